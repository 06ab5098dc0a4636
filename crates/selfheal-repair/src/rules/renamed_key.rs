//! # A key that the data spells differently
//!
//! ## What it finds
//! A Python program asks for a key that is not there, while the data has the same words in another spelling: `orderId` and
//! `order_id`, `Name` and `name`, `item` and `items`. Or with a unit behind it: `unitPrice` and `unit_price_cents`. Data is also
//! a settings file with its sections and names (INI, TOML, YAML); there a name may also say what kind of thing it is now:
//! `cache` and `cache_dir`, `log` and `log_file`.
//!
//! ## Why it fails
//! The sender changed the spelling of its keys, often all of them at once.
//!
//! ## Fix
//! The program's keys are spelled as the data spells them: the one that failed and all others of the program that the data
//! knows only in the other spelling. An amount in cents is divided by 100 where the program takes it.
//!
//! ## Example
//! ```python
//! rows.append(order["orderId"])
//! ```
//! ```python
//! rows.append(order["order_id"])
//! ```
//!
//! ## Safety
//! Evidence comes from the data that the program read or from a probe; a key that the data has is never touched, nor one
//! with two possible spellings. It changes what is read, so the risk is medium.

use std::collections::BTreeSet;

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;
use crate::text;
use crate::units;

rule!(RenamedKey, "renamed_key", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let key = case.faults().find_map(|fault| match fault {
        Fault::KeyMissing { key } => Some(key.clone()),
        _ => None,
    });
    let Some(key) = key else { return Vec::new() };
    let modules = python::modules(case);
    let mut known = BTreeSet::new();
    for (_, module) in &modules {
        known.extend(data_keys(case, module));
    }
    let unit = with_unit(&known, &key);
    let of_settings = || {
        let module = modules.iter().map(|(_, module)| module).find(|module| reads_settings(module))?;
        with_kind(&known, &key, module)
    };
    let new = other_spelling(&known, &key).or(unit.map(|(new, _)| new)).or_else(of_settings);
    let Some(new) = new else { return Vec::new() };
    let mut draft = Draft::new(
        "renamed_key",
        format!("the data has no key {key:?}; it spells it {new:?}"),
        "spell the keys as the data does",
    )
    .evidence(format!("{new:?} is in the data, {key:?} is not"))
    .meaning();
    for (file, module) in &modules {
        let parts = parts(module, &known, &key);
        if parts.iter().any(|(span, _)| file.text.get(span.clone()).is_some_and(|old| old.contains(&key))) {
            let lines: BTreeSet<u32> =
                parts.iter().map(|(span, _)| python::line_of(&file.text, span.start)).collect();
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            draft = draft.rewrite(
                file,
                splice(&file.text, parts),
                format!("lines {}: keys as in the data", lines.join(", ")),
            );
        }
    }
    draft.done().into_iter().collect()
}

/// Sections and names that are read of one settings file.
const MOST_SETTINGS: usize = 2_000;

/// Words that say of a setting what kind of thing it names.
const KINDS: &[&str] = &[
    "dir",
    "directory",
    "folder",
    "path",
    "file",
    "filename",
    "name",
    "url",
    "uri",
    "host",
    "address",
    "server",
];

/// Whether a program reads its settings with `configparser`.
fn reads_settings(module: &Module) -> bool {
    module.imports().iter().any(|import| import.module == "configparser")
}

/// The one setting that is a name with its kind behind it, or without; none that the program has a use for already.
fn with_kind<'k>(known: &'k BTreeSet<String>, key: &str, module: &Module) -> Option<&'k String> {
    let key = key.to_lowercase();
    if known.contains(&key) || key.len() < 3 {
        return None;
    }
    let longer = |long: &str, short: &str| {
        let kind = long.strip_prefix(short).map(|rest| rest.trim_start_matches(['_', '-']));
        kind.is_some_and(|kind| KINDS.contains(&kind))
    };
    let used = |name: &str| ["\"", "'"].iter().any(|q| module.text().contains(&format!("{q}{name}{q}")));
    let mut alike = known
        .iter()
        .filter(|other| other.len() > 2 && (longer(other, &key) || longer(&key, other)) && !used(other));
    // With `cache_dir` and `cache_size`, or anything else that begins so, it is not plain which was meant.
    let first = alike.next()?;
    let begins = |other: &String| {
        other != first && other.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with(['_', '-']))
    };
    (alike.next().is_none() && !known.iter().any(begins)).then_some(first)
}

/// The one key of the data that is a key with a unit behind it; the data has whole numbers there.
fn with_unit<'k>(known: &'k BTreeSet<String>, key: &str) -> Option<(&'k String, u32)> {
    if known.contains(key) || other_spelling(known, key).is_some() || key.len() < 3 {
        return None;
    }
    let fits = |other: &'k String| {
        let (head, unit) = other.rsplit_once('_')?;
        let in_hundredths = units::hundredths().any(|word| unit.eq_ignore_ascii_case(word));
        (in_hundredths && bare(head) == bare(key)).then_some((other, 100))
    };
    let mut found = known.iter().filter_map(fits);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The letters of a key without case, separators and the plural's ending.
fn bare(key: &str) -> String {
    let letters: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    letters.strip_suffix('s').map_or(letters.clone(), str::to_owned)
}

/// The one other spelling of a key in the data; `None` when the data has the key itself.
fn other_spelling<'k>(known: &'k BTreeSet<String>, key: &str) -> Option<&'k String> {
    if known.contains(key) || key.is_empty() {
        return None;
    }
    let wanted = bare(key);
    let mut alike = known.iter().filter(|other| !wanted.is_empty() && bare(other) == wanted);
    let first = alike.next()?;
    alike.next().is_none().then_some(first)
}

/// The keys of the data: of JSON files and of the head lines of tables that the program names, and of the values that a probe
/// saw.
pub(super) fn data_keys(case: &Case, module: &Module) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for path in python::data_files(case, module) {
        if path.extension().is_some_and(|ending| ending == "py") {
            continue;
        }
        let Some(bytes) = case.scene.read(&path, crate::case::LARGEST) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let json = text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
        keys.extend(match ending.as_str() {
            "ini" | "cfg" | "conf" | "toml" | "yaml" | "yml" => settings_keys(&text, &ending),
            _ if json => quoted_keys(&text),
            _ => head_line(&text),
        });
    }
    for frame in case.trace.map_or(&[][..], |trace| &trace.frames) {
        keys.extend(frame.values.values().flat_map(|value| quoted_keys(value)));
    }
    keys
}

/// What stands in quotes before a colon.
fn quoted_keys(text: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for quote in ['"', '\''] {
        let mut pieces = text.split(quote).peekable();
        while let Some(piece) = pieces.next() {
            let colon = pieces.peek().is_some_and(|next| next.trim_start().starts_with(':'));
            if colon && !piece.is_empty() && piece.len() < 100 && !piece.contains(['\n', ':', '{']) {
                keys.push(piece.to_owned());
            }
        }
    }
    keys
}

/// The sections and names of a settings file. Python reads the names of an INI file in small letters.
fn settings_keys(text: &str, ending: &str) -> Vec<String> {
    let plain = |key: &str| {
        let key = key.trim().trim_matches(['"', '\'']);
        let all = key.chars().all(|c| text::is_name(c) || matches!(c, '-' | '.' | ' '));
        (all && !key.is_empty() && key.len() < 100).then(|| key.to_owned())
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';', '-']));
    let read = lines.filter_map(|line| {
        if let Some(section) = line.strip_prefix('[') {
            return plain(section.split(']').next()?.trim_start_matches('['));
        }
        let end = match ending {
            "yaml" | "yml" => line.find(':'),
            "toml" => line.find('='),
            _ => line.find(['=', ':']),
        };
        let key = plain(line.get(..end?)?)?;
        Some(if matches!(ending, "ini" | "cfg" | "conf") { key.to_lowercase() } else { key })
    });
    read.take(MOST_SETTINGS).collect()
}

fn head_line(text: &str) -> Vec<String> {
    let line = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    let separator = [';', '\t', '|', ','].into_iter().max_by_key(|c| line.matches(*c).count()).unwrap_or(',');
    let fields = line.split(separator).map(|field| field.trim().trim_matches('"').to_owned());
    fields.filter(|field| line.contains(separator) && !field.is_empty() && field.len() < 100).collect()
}

fn parts(module: &Module, known: &BTreeSet<String>, missing: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    // Section and name.
    let settings = module.text().contains("configparser");
    let failed = |key: &str| settings && key.eq_ignore_ascii_case(missing);
    let mut add = |span: std::ops::Range<usize>, key: &str| {
        let kind = || failed(key).then(|| with_kind(known, key, module)).flatten();
        if let Some(new) = other_spelling(known, key).or_else(kind) {
            let old = module.text().get(span.clone()).unwrap_or_default();
            parts.push((span, old.replacen(key, new, 1)));
        }
    };
    let accesses = || module.subscripts().into_iter().filter(|access| !access.stored);
    for access in accesses() {
        add(access.key_span, &access.key);
    }
    for call in module.calls() {
        let keys = match call.callee.rsplit('.').next() {
            Some("get") if settings => 2,
            Some("get" | "pop" | "itemgetter") => 1,
            Some("getint" | "getfloat" | "getboolean") if settings => 2,
            _ => 0,
        };
        for argument in call.arguments.iter().take(keys) {
            if let Some(key) = &argument.string {
                add(argument.span.clone(), key);
            }
        }
    }
    parts.sort_by_key(|(span, _)| span.start);
    parts.dedup_by_key(|(span, _)| span.start);
    for access in accesses() {
        if let Some((new, divisor)) = with_unit(known, &access.key) {
            let old = module.text().get(access.key_span.clone()).unwrap_or_default();
            parts.push((access.key_span.clone(), old.replacen(&access.key, new, 1)));
            parts.push((access.span.start..access.span.start, "(".to_owned()));
            parts.push((access.span.end..access.span.end, format!(" / {divisor})")));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const TEXT: &str = "import json\nd = json.load(open('api/orders.json'))\nout = {}\nfor o in d['orders']:\n    \
        out['orderId'] = o['orderId']\n    n = o.get(\"customerName\", '')\n    q = o['qty']\n    p = o['unitPrice']\n";

    #[test]
    fn spells_all_keys_as_the_data_does() {
        let data =
            "{\"orders\": [{\"order_id\": 1, \"customer_name\": \"x\", \"qty\": 2, \"price_cents\": 3}]}";
        let case = TestCase::new("x.py", TEXT, TestScene::new().file("api/orders.json", data))
            .fault(Fault::KeyMissing { key: "orderId".into() })
            .at(5);
        let healed = case.healed(&RenamedKey);
        assert_eq!(
            healed,
            TEXT.replace("= o['orderId']", "= o['order_id']").replace("customerName", "customer_name")
        );
        assert!(case.ask(&RenamedKey)[0].proposal.changes_meaning);
    }

    #[test]
    fn divides_what_is_in_cents_now() {
        let data = "{\"orders\": [{\"order_id\": 1, \"unit_price_cents\": 3}]}";
        let case = TestCase::new("x.py", TEXT, TestScene::new().file("api/orders.json", data))
            .fault(Fault::KeyMissing { key: "unitPrice".into() })
            .at(8);
        assert!(case.healed(&RenamedKey).contains("p = (o['unit_price_cents'] / 100)\n"));
        let other = "{\"orders\": [{\"order_id\": 1, \"unit_price_net\": 3}]}";
        let case = TestCase::new("x.py", TEXT, TestScene::new().file("api/orders.json", other))
            .fault(Fault::KeyMissing { key: "unitPrice".into() });
        assert!(case.silent(&RenamedKey));
    }

    #[test]
    fn reads_head_lines_of_tables() {
        let text = "import csv\nfor row in csv.DictReader(open('p.csv')):\n    print(row['Sku'])\n";
        let case = TestCase::new("x.py", text, TestScene::new().file("p.csv", "sku,name\n1,a\n"))
            .fault(Fault::KeyMissing { key: "Sku".into() });
        assert!(case.healed(&RenamedKey).contains("row['sku']"));
    }

    #[test]
    fn reads_sections_and_names_of_settings() {
        let text = "import configparser\nc = configparser.ConfigParser()\nc.read('app.ini')\n\
            h = c['database']['host']\np = c.getint('database', 'port')\nu = c.get('database', 'userName')\n";
        let settings = "[Database]\nHost = db1 ; = x\nport: 5432\nuser_name = x\n";
        let case = TestCase::new("x.py", text, TestScene::new().file("app.ini", settings))
            .fault(Fault::KeyMissing { key: "database".into() })
            .at(4);
        assert_eq!(
            case.healed(&RenamedKey),
            text.replace("'database'", "'Database'").replace("userName", "user_name")
        );
        let text = "import tomllib\nc = tomllib.load(open('app.toml', 'rb'))\nprint(c['db']['maxSize'])\n";
        let case = TestCase::new("x.py", text, TestScene::new().file("app.toml", "[db]\nmax-size = 3\n"))
            .fault(Fault::KeyMissing { key: "maxSize".into() });
        assert!(case.healed(&RenamedKey).contains("['db']['max-size']"));
    }

    #[test]
    fn settings_may_say_their_kind() {
        let text = "import configparser\nc = configparser.ConfigParser()\nc.read('app.ini')\n\
            print(c['scan']['cache'], c.getint('scan', 'size'))\nd = c.get('scan', 'cache')\n";
        let ask = |settings: &str| {
            TestCase::new("x.py", text, TestScene::new().file("app.ini", settings))
                .fault(Fault::KeyMissing { key: "cache".into() })
                .at(4)
        };
        let healed = ask("[scan]\nsize = 3\ncache_dir = spool\n").healed(&RenamedKey);
        assert_eq!(healed, text.replace("'cache'", "'cache_dir'"));
        for other in [
            "[scan]\nsize = 3\ncache_dir = a\ncache_size = 4\n",
            "[scan]\nsize = 3\ncache_dir = a\ncache_path = b\n",
            "[scan]\nsize = 3\ncache_minutes = 4\n",
        ] {
            assert!(ask(other).silent(&RenamedKey), "{other}");
        }
    }

    #[test]
    fn leaves_keys_that_are_not_in_the_data_alone() {
        let case = TestCase::new(
            "x.py",
            TEXT,
            TestScene::new().file("api/orders.json", "{\"orders\": [{\"id\": 1}]}"),
        )
        .fault(Fault::KeyMissing { key: "orderId".into() });
        assert!(case.silent(&RenamedKey));
        let both = "{\"orders\": [{\"order_id\": 1, \"OrderID\": 2}]}";
        let case = TestCase::new("x.py", TEXT, TestScene::new().file("api/orders.json", both))
            .fault(Fault::KeyMissing { key: "orderId".into() });
        assert!(case.silent(&RenamedKey));
    }
}
