//! # A list is wrapped in an object now
//!
//! ## What it finds
//! A Python or node program reads a JSON list, and the file holds an object with one list in it: walking through it gives the
//! object's keys ("string indices must be integers"), or the list's functions are missing (`filter` is not a function).
//!
//! ## Why it fails
//! Whoever makes the file has put the list into an object, together with a count, a version or a page.
//!
//! ## Fix
//! The list is taken out of the object where the file is read.
//!
//! ## Example
//! ```python
//! users = json.loads(text)
//! ```
//! ```python
//! users = json.loads(text)["users"]
//! ```
//!
//! ## Safety
//! Only where the object holds exactly one list, whose elements are objects, and the program knows none of the object's own
//! keys. It changes what is read, so the risk is medium.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;
use serde_json::Value;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, LARGEST, Language, ScriptFile};
use crate::python;
use crate::shell::splice;
use crate::text;

rule!(WrappedList, "wrapped_list", Unsafe, propose);

/// What arrays of JavaScript can do, as far as programs ask for it first.
const OF_LISTS: &[&str] = &[
    "filter", "map", "forEach", "reduce", "sort", "slice", "find", "some", "every", "flatMap", "join", "push",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::WrongType { message } | Fault::Other { message } | Fault::BadValue { message, .. } => {
            message.contains("string indices must be integers")
                || message.contains("is not iterable")
                || message.contains("is not a function")
        }
        Fault::MissingName { owner, name } => OF_LISTS.contains(&name.as_str()) || owner == "str",
        Fault::KeyMissing { key } => key.parse::<u32>().is_ok(),
        _ => false,
    });
    if !told {
        return Vec::new();
    }
    let files = case.files();
    let python = || {
        files.iter().filter(|file| file.language == Language::Python).find_map(|file| in_python(case, file))
    };
    let node =
        || files.iter().filter(|file| file.language == Language::Node).find_map(|file| in_node(case, file));
    python().or_else(node).into_iter().collect()
}

fn in_python(case: &Case, file: &ScriptFile) -> Option<Candidate> {
    let module = selfheal_syntax::python::Module::parse(&file.text).ok()?;
    let mut calls = module
        .calls()
        .into_iter()
        .filter(|call| matches!(call.resolved.as_str(), "json.load" | "json.loads"));
    let call = calls.next().filter(|_| calls.next().is_none())?;
    let (data, key) = python::data_files(case, &module)
        .into_iter()
        .find_map(|path| Some((path.clone(), wrapped(case, &path, &file.text)?)))?;
    draft(file, call.span.end, &format!("[\"{key}\"]"), (&data, &key))
}

fn in_node(case: &Case, file: &ScriptFile) -> Option<Candidate> {
    let mut places = file.text.match_indices("JSON.parse(");
    let (at, _) = places.next().filter(|_| places.next().is_none())?;
    let end = closing(&file.text, at + "JSON.parse".len())?;
    let home = file.path.parent()?;
    let named = file.text.split(['\'', '"', '`']).filter(|word| word.ends_with(".json"));
    let (data, key) = named.take(20).find_map(|name| {
        let path = case.find(Path::new(name)).unwrap_or_else(|| absolute(home, Path::new(name)));
        Some((path.clone(), wrapped(case, &path, &file.text)?))
    })?;
    let access = if key.chars().all(text::is_name) && !key.starts_with(|c: char| c.is_ascii_digit()) {
        format!(".{key}")
    } else {
        format!("['{key}']")
    };
    draft(file, end, &access, (&data, &key))
}

/// The byte behind the bracket that closes the one at `open`; quotes are looked over.
fn closing(text: &str, open: usize) -> Option<usize> {
    let (mut depth, mut quote) = (0_u32, None);
    for (at, c) in text.get(open..)?.char_indices() {
        match (quote, c) {
            (Some(end), _) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(open + at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The key of the one list of objects in a file that holds an object none of whose keys the program knows.
fn wrapped(case: &Case, path: &Path, program: &str) -> Option<String> {
    let Value::Object(object) = serde_json::from_slice(&case.scene.read(path, LARGEST)?).ok()? else {
        return None;
    };
    let mut lists = object.iter().filter(|(_, value)| {
        value.as_array().is_some_and(|list| list.iter().all(Value::is_object) && !list.is_empty())
    });
    let (key, _) = lists.next()?;
    let only = lists.next().is_none() && object.values().filter(|value| value.is_array()).count() == 1;
    let plain = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let knows = object.keys().any(|key| {
        [format!("\"{key}\""), format!("'{key}'"), format!(".{key}.")]
            .iter()
            .any(|word| program.contains(word.as_str()))
    });
    (only && plain && !knows).then(|| key.clone())
}

fn draft(file: &ScriptFile, at: usize, access: &str, (data, key): (&Path, &str)) -> Option<Candidate> {
    let line = python::line_of(&file.text, at);
    Draft::new(
        "wrapped_list",
        format!("{} holds an object now, with the list under {key:?}", data.display()),
        "take the list out of the object where it is read",
    )
    .meaning()
    .evidence(format!("{key:?} is the only list in {}", data.display()))
    .rewrite(file, splice(&file.text, vec![(at..at, access.to_owned())]), format!("line {line}: {access}"))
    .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const DATA: &str = "{\"users\": [{\"name\": \"a\"}], \"total\": 1}";

    fn python(text: &str, data: &str) -> TestCase {
        TestCase::new("x.py", text, TestScene::new().file("users.json", data))
            .fault(Fault::WrongType { message: "string indices must be integers, not 'str'".into() })
            .at(3)
    }

    const TEXT: &str =
        "import json\nusers = json.load(open('users.json'))\nprint([u['name'] for u in users])\n";

    #[test]
    fn takes_the_list_out_of_the_object() {
        assert!(
            python(TEXT, DATA).healed(&WrappedList).contains("json.load(open('users.json'))[\"users\"]\n")
        );
        let text = "const l = JSON.parse(fs.readFileSync('users.json', 'utf8'));\nl.filter((u) => u.name);\n";
        let node = TestCase::new("x.js", text, TestScene::new().file("users.json", DATA))
            .fault(Fault::MissingName { owner: "l".into(), name: "filter".into() })
            .at(2);
        assert!(
            node.healed(&WrappedList)
                .starts_with("const l = JSON.parse(fs.readFileSync('users.json', 'utf8')).users;\n")
        );
    }

    #[test]
    fn leaves_objects_that_are_known_or_hold_several_lists_alone() {
        assert!(
            python(TEXT, "{\"users\": [{\"name\": \"a\"}], \"old\": [{\"name\": \"b\"}]}")
                .silent(&WrappedList)
        );
        assert!(python(&TEXT.replace("print(", "print(users['total'], "), DATA).silent(&WrappedList));
        assert!(python(TEXT, "[{\"name\": \"a\"}]").silent(&WrappedList));
    }
}
