//! # A key that the data has one level deeper now, or spells differently
//!
//! ## What it finds
//! A Python or node program asks a record for a key that it does not have any more, while every record holds an object in which
//! the key is: `user.name` and `{"profile": {"name": …}}`. Or, in node, a property that the data spells differently: `roomNumber`
//! and `room_number`.
//!
//! ## Why it fails
//! The sender grouped its fields or changed how it spells them. Other fields that moved with the one that failed would be missing
//! without any message.
//!
//! ## Fix
//! The key, and every other that moved to the same place, is asked for where it is now.
//!
//! ## Example
//! ```js
//! const born = user.birthday.slice(5);
//! ```
//! ```js
//! const born = user.profile.birthday.slice(5);
//! ```
//!
//! ## Safety
//! Evidence is the JSON that the program names: exactly one field must hold the key, and no record may still have it itself. A
//! record without either still fails. It changes what is read, so the risk is medium.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;
use serde_json::Value;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::python;
use crate::shell::splice;
use crate::tables::bare;
use crate::text::{self, is_name};

rule!(NestedKey, "nested_key", Unsafe, propose);

/// Objects of the data that are looked at.
const MOST_OBJECTS: usize = 20_000;

fn propose(case: &Case) -> Vec<Candidate> {
    let key = case.faults().find_map(|fault| match fault {
        Fault::KeyMissing { key } => Some(key.clone()),
        _ => None,
    });
    let Some(key) = key else { return Vec::new() };
    in_python(case, &key).or_else(|| in_node(case, &key)).into_iter().collect()
}

/// Which keys the objects of some JSON have.
#[derive(Default)]
struct Shape {
    /// All keys.
    keys: BTreeSet<String>,
    /// The fields that hold an object with a key, by that key.
    holders: BTreeMap<String, BTreeSet<String>>,
    /// Keys that an object has beside such a field.
    beside: BTreeSet<(String, String)>,
    left: usize,
}

impl Shape {
    fn read<'p>(case: &Case, paths: impl Iterator<Item = &'p Path>) -> Self {
        let mut shape = Self { left: MOST_OBJECTS, ..Self::default() };
        for path in paths {
            let bytes = case.scene.read(path, crate::case::LARGEST).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(value) = serde_json::from_str(text.trim_start_matches('\u{feff}')) {
                shape.add(&value);
            }
        }
        shape
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(fields) if self.left > 0 => {
                self.left -= 1;
                for (field, inner) in fields {
                    self.keys.insert(field.clone());
                    for key in inner.as_object().into_iter().flat_map(|inner| inner.keys()) {
                        self.holders.entry(key.clone()).or_default().insert(field.clone());
                        if fields.contains_key(key) {
                            self.beside.insert((field.clone(), key.clone()));
                        }
                    }
                    self.add(inner);
                }
            }
            _ => {}
        }
    }

    /// The one field in which a key is now.
    fn holder(&self, key: &str) -> Option<&str> {
        let holders = self.holders.get(key).filter(|holders| holders.len() == 1)?;
        let holder = holders.first()?;
        (!self.beside.contains(&(holder.clone(), key.to_owned()))).then_some(holder.as_str())
    }

    /// The one other spelling of a key that the data does not have.
    fn spelling(&self, key: &str) -> Option<&str> {
        if self.keys.contains(key) {
            return None;
        }
        let mut alike = self.keys.iter().filter(|other| bare(other) == bare(key));
        let one = alike.next()?;
        alike.next().is_none().then_some(one.as_str())
    }
}

fn in_python(case: &Case, key: &str) -> Option<Candidate> {
    python::modules(case).into_iter().find_map(|(file, module)| {
        let lines = python::failing_lines(case, &file.path);
        let paths = python::data_files(case, &module);
        let shape = Shape::read(case, paths.iter().map(std::path::PathBuf::as_path));
        let holder = shape.holder(key)?;
        let accesses = module.subscripts();
        let object = &accesses.iter().find(|a| a.key == key && !a.stored && lines.contains(&a.line))?.object;
        let moved = accesses.iter().filter(|access| {
            access.object == *object && !access.stored && shape.holder(&access.key) == Some(holder)
        });
        let mut parts: Vec<python::Part> = moved
            .map(|access| {
                let at = access.span.start + access.object.len();
                (at..at, format!("[\"{holder}\"]"))
            })
            .collect();
        for call in module.calls_of(&format!("{object}.get")) {
            let asked = call.arguments.first().and_then(|argument| argument.string.clone());
            if asked.is_some_and(|asked| shape.holder(&asked) == Some(holder)) {
                let at = call.span.start + object.len();
                parts.push((at..at, format!("[\"{holder}\"]")));
            }
        }
        draft(&file, key, holder, parts)
    })
}

fn in_node(case: &Case, read: &str) -> Option<Candidate> {
    let file = case.failing_file().filter(|file| file.language == Language::Node)?;
    let number = case.line_in(&file)?;
    let line = text::line(&file.text, number)?;
    let paths = named_json(case, &file.text);
    let shape = Shape::read(case, paths.iter().map(std::path::PathBuf::as_path));
    // `user.birthday.slice`: what was not there is the name before the one that was read of it.
    let (object, key) = line.match_indices(&format!(".{read}")).find_map(|(at, _)| {
        let before = line.get(..at)?;
        let key = before.get(before.rfind(|c: char| !is_name(c))? + 1..)?;
        let object = before.strip_suffix(key)?.strip_suffix('.')?;
        let object = object.get(object.rfind(|c: char| !is_name(c)).map_or(0, |at| at + 1)..)?;
        (!key.is_empty() && !object.is_empty()).then_some((object, key))
    })?;
    if let Some(holder) = shape.holder(key) {
        let moved = members(&file.text, object).filter(|(_, name)| shape.holder(name) == Some(holder));
        let parts = moved.map(|(span, _)| (span.start..span.start, format!("{holder}."))).collect();
        return draft(&file, key, holder, parts);
    }
    let new = shape.spelling(key)?;
    let other = |(span, name): (Range<usize>, &str)| Some((span, shape.spelling(name)?.to_owned()));
    let parts: Vec<python::Part> = members(&file.text, object).filter_map(other).collect();
    Draft::new(
        "nested_key",
        format!("line {number}: the data has no {key}; it spells it {new}"),
        "spell the properties as the data does",
    )
    .evidence(format!("{new} is in the data, {key} is not"))
    .meaning()
    .rewrite(&file, splice(&file.text, parts), format!("line {number}: properties as in the data"))
    .done()
}

/// The members of an object that a text names: their places and names.
fn members<'t>(text: &'t str, object: &'t str) -> impl Iterator<Item = (Range<usize>, &'t str)> {
    text::whole_words(text, object).filter_map(move |at| {
        let start = at + object.len();
        let dot = if text.get(start..)?.starts_with("?.") { 2 } else { 1 };
        let rest = text.get(start..)?.trim_start_matches('?').strip_prefix('.')?;
        let name = rest.get(..rest.find(|c: char| !is_name(c)).unwrap_or(rest.len()))?;
        let assigned = rest.get(name.len()..)?.trim_start();
        let stored = assigned.starts_with('=') && !assigned.starts_with("==");
        (!name.is_empty() && !stored).then(|| (start + dot..start + dot + name.len(), name))
    })
}

fn named_json(case: &Case, text: &str) -> Vec<std::path::PathBuf> {
    let names = text.split(['\'', '"', '`']).filter(|word| word.ends_with(".json") && word.len() < 200);
    names.filter_map(|name| case.find(Path::new(name.trim_start_matches("./")))).take(20).collect()
}

fn draft(file: &ScriptFile, key: &str, holder: &str, parts: Vec<python::Part>) -> Option<Candidate> {
    let lines: BTreeSet<u32> =
        parts.iter().map(|(span, _)| python::line_of(&file.text, span.start)).collect();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    Draft::new(
        "nested_key",
        format!("the data has {key:?} in {holder:?} now"),
        format!("ask {holder:?} for what has moved there"),
    )
    .evidence(format!("{holder:?} has {key:?}, and no record has it beside {holder:?}"))
    .meaning()
    .rewrite(
        file,
        splice(&file.text, parts),
        format!("lines {}: keys where the data has them", lines.join(", ")),
    )
    .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const DATA: &str =
        "{\"users\": [{\"email\": \"a\", \"profile\": {\"name\": \"A\", \"birthday\": \"1\"}}]}";

    fn node(text: &str, data: &str, read: &str) -> TestCase {
        TestCase::new("x.js", text, TestScene::new().file("users.json", data))
            .fault(Fault::KeyMissing { key: read.into() })
            .at(2)
    }

    #[test]
    fn asks_where_the_keys_are_now() {
        let text = "const d = JSON.parse(fs.readFileSync('users.json'));\nfor (const user of d.users) if (user.birthday.slice(1)) out(user.name, user.email);\n";
        let healed = node(text, DATA, "slice").healed(&NestedKey);
        assert!(
            healed.contains("user.profile.birthday.slice(1)) out(user.profile.name, user.email)"),
            "{healed}"
        );
        let text = "import json\nfor u in json.load(open('users.json'))['users']:\n    print(u['name'], u.get('birthday'), u['email'])\n";
        let case = TestCase::new("x.py", text, TestScene::new().file("users.json", DATA))
            .fault(Fault::KeyMissing { key: "name".into() })
            .at(3);
        assert!(
            case.healed(&NestedKey)
                .contains("print(u[\"profile\"]['name'], u[\"profile\"].get('birthday'), u['email'])")
        );
    }

    #[test]
    fn spells_properties_as_the_data_does() {
        let text = "const d = require('./users.json');\nd.map((a) => [a.roomNumber.split('-'), a.serialNumber, a.owner]);\n";
        let data = "[{\"room_number\": \"a\", \"serial_number\": 1, \"owner\": 2}]";
        let healed = node(text, data, "split").healed(&NestedKey);
        assert!(healed.contains("[a.room_number.split('-'), a.serial_number, a.owner]"), "{healed}");
    }

    #[test]
    fn leaves_keys_alone_that_two_fields_hold_or_none() {
        let two = "{\"a\": {\"name\": 1}, \"b\": {\"name\": 2}}";
        let text = "const d = require('./users.json');\nd.name.trim();\n";
        assert!(node(text, two, "trim").silent(&NestedKey));
        assert!(node(text, "{\"id\": 1}", "trim").silent(&NestedKey));
        assert!(node(text, "{\"name\": 1, \"p\": {\"name\": 2}}", "trim").silent(&NestedKey));
    }
}
