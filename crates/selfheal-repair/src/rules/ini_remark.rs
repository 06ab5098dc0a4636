//! # A remark behind a value of an INI file
//!
//! ## What it finds
//! Python's `configparser` hands out `5432 ; the default`, and the program cannot use it: as a number, a yes or no, or a path.
//!
//! ## Why it fails
//! Since Python 3.2, `configparser` takes only whole lines for remarks. Somebody put one behind a value, as many other
//! programs allow.
//!
//! ## Fix
//! The parser cuts remarks of that kind off: `inline_comment_prefixes`.
//!
//! ## Example
//! ```python
//! conf = configparser.ConfigParser()
//! ```
//! ```python
//! conf = configparser.ConfigParser(inline_comment_prefixes=(";",))
//! ```
//!
//! ## Safety
//! Only where the value that failed stands in a file which the program reads, and whatever the sign begins in that file, with a
//! blank before and behind it, is a remark: no other value would be cut. It changes what is read, so the risk is medium.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, LARGEST};
use crate::python::{self, Part};
use crate::shell::splice;

rule!(IniRemark, "ini_remark", Unsafe, propose);

/// Signs that begin a remark in files of this kind.
const SIGNS: [char; 2] = [';', '#'];
/// Parsers that can be told of them.
const PARSERS: [&str; 2] = ["configparser.ConfigParser", "configparser.RawConfigParser"];

fn propose(case: &Case) -> Vec<Candidate> {
    let Some((value, sign)) = case.faults().find_map(remarked) else { return Vec::new() };
    for (file, module) in python::modules(case) {
        let reads = python::data_files(case, &module)
            .iter()
            .filter_map(|path| case.scene.read(path, LARGEST))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .any(|text| holds(&text, &value) && only_remarks(&text, sign));
        let calls = module.calls().into_iter().filter(|call| {
            PARSERS.contains(&call.resolved.as_str()) && call.keyword("inline_comment_prefixes").is_none()
        });
        let argument = format!("inline_comment_prefixes=(\"{sign}\",)");
        let parts: Vec<Part> =
            calls.filter_map(|call| python::add_argument(&module, &call.span, &argument)).collect();
        let Some((first, _)) = parts.first().filter(|_| reads) else { continue };
        let line = python::line_of(&file.text, first.start);
        return Draft::new(
            "ini_remark",
            format!(
                "the settings hold {value:?}: a remark behind a value, which the parser hands out with it"
            ),
            "cut remarks off behind values",
        )
        .evidence(format!("all that {sign} begins in the settings is a remark"))
        .meaning()
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: {argument}"))
        .done()
        .into_iter()
        .collect();
    }
    Vec::new()
}

/// The value of a fault, where a remark stands behind it, and the remark's sign.
fn remarked(fault: &Fault) -> Option<(String, char)> {
    let value = match fault {
        Fault::BadValue { value: Some(value), .. } => value.clone(),
        Fault::BadValue { message, .. } | Fault::Other { message } => {
            // `Not a boolean: yes ; for the night`.
            message.split_once("Not a boolean: ")?.1.to_owned()
        }
        Fault::NoSuchPath { path } => path.to_string_lossy().into_owned(),
        _ => return None,
    };
    let at = |sign: &char| value.find(&format!(" {sign} ")).filter(|at| *at > 0);
    let sign = SIGNS.into_iter().filter(|sign| at(sign).is_some()).min_by_key(|sign| at(sign))?;
    Some((value, sign))
}

/// Whether a settings file has this value, alone or at the end of a path that was put together.
fn holds(text: &str, value: &str) -> bool {
    text.lines().filter_map(|line| line.split_once(['=', ':'])).any(|(_, held)| {
        let held = held.trim();
        !held.is_empty() && (held == value || value.ends_with(&format!("/{held}")))
    })
}

/// Whether every place that would be cut is a remark: prose, with a blank before and behind the sign, and no quotes open.
fn only_remarks(text: &str, sign: char) -> bool {
    let values = text.lines().map(str::trim).filter(|line| !line.starts_with(SIGNS));
    values.filter_map(|line| line.split_once(&format!(" {sign}"))).all(|(before, behind)| {
        let closed = ['"', '\''].iter().all(|quote| before.matches(*quote).count() % 2 == 0);
        closed && behind.starts_with(' ') && behind.trim().starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    fn case(text: &str, data: &str, value: &str) -> TestCase {
        let fault = Fault::BadValue {
            value: Some(value.to_owned()),
            message: "invalid literal for int()".to_owned(),
        };
        TestCase::new("x.py", text, TestScene::new().file("a.ini", data)).fault(fault).at(4)
    }

    const TEXT: &str =
        "import configparser\nc = configparser.ConfigParser()\nc.read('a.ini')\np = c.getint('a', 'p')\n";

    #[test]
    fn cuts_remarks_off() {
        let healed = case(TEXT, "[a]\np = 5432 ; the default\n", "5432 ; the default").healed(&IniRemark);
        assert!(healed.contains("ConfigParser(inline_comment_prefixes=(\";\",))"), "{healed}");
        let text = "from configparser import ConfigParser\nc = ConfigParser(strict=False)\nc.read('a.ini')\n\
            f = open(c['a']['f'])\n";
        let path = "/srv/in.csv # of the night";
        let healed =
            TestCase::new("x.py", text, TestScene::new().file("a.ini", &format!("[a]\nf = {path}\n")))
                .fault(no_such(path))
                .at(4)
                .healed(&IniRemark);
        assert!(healed.contains("ConfigParser(strict=False, inline_comment_prefixes=(\"#\",))"), "{healed}");
    }

    #[test]
    fn leaves_values_with_the_sign_alone() {
        let value = "5432 ; the default";
        let line = format!("[a]\np = {value}\n");
        assert!(case(TEXT, &format!("{line}q = a ;b\n"), value).silent(&IniRemark));
        assert!(case(TEXT, &format!("{line}q = \"a ; b\"\n"), value).silent(&IniRemark));
        assert!(case(TEXT, "[a]\np = 5432x\n", "5432x").silent(&IniRemark));
        assert!(case(TEXT, "[a]\nq = 1\n", value).silent(&IniRemark), "the value comes from somewhere else");
        assert!(
            case(&TEXT.replace("()\n", "(inline_comment_prefixes='#')\n"), &line, value).silent(&IniRemark)
        );
    }
}
