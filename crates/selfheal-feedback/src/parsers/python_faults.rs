//! Python's messages: what the words of an exception say beyond its type.

use std::sync::LazyLock;

use selfheal_core::fault::Fault;

use super::{Row, bounded, row};
use crate::template::unquote;

/// Messages of exceptions, with the exception's short name that they belong to.
static TABLE: LazyLock<[(&str, Row); 26]> = LazyLock::new(|| {
    [
        (
            "ModuleNotFoundError",
            row("^No module named {name:q}", |h| {
                let name = h.get("name").trim_end_matches([';', ',']);
                Some(Fault::MissingModule { name: unquote(name).to_owned() })
            }),
        ),
        (
            "ImportError",
            row("^No module named {name:q}", |h| Some(Fault::MissingModule { name: h.text("name") })),
        ),
        (
            "ImportError",
            row("^cannot import name {name:q} from partially initialized module {owner:q} ", |h| {
                Some(Fault::MissingName { owner: h.text("owner"), name: h.text("name") })
            }),
        ),
        (
            "ImportError",
            row("^cannot import name {name:q} from {owner:q} ", |h| {
                Some(Fault::MissingName { owner: h.text("owner"), name: h.text("name") })
            }),
        ),
        (
            "ImportError",
            row("^cannot import name {name:q} from {owner:q}$", |h| {
                Some(Fault::MissingName { owner: h.text("owner"), name: h.text("name") })
            }),
        ),
        (
            "ImportError",
            row("^cannot import name {name:q}", |h| {
                Some(Fault::MissingName { owner: String::new(), name: h.text("name") })
            }),
        ),
        (
            "ImportError",
            row("^{lib:w}: cannot open shared object file: No such file or directory", |h| {
                Some(Fault::MissingModule { name: h.text("lib") })
            }),
        ),
        (
            "AttributeError",
            row("^module {owner:q} has no attribute {name:q}", |h| {
                Some(Fault::MissingName {
                    owner: h.text("owner"),
                    name: unquote(h.get("name").trim_end_matches('.')).to_owned(),
                })
            }),
        ),
        (
            "AttributeError",
            row("^partially initialized module {owner:q} has no attribute {name:q}", |h| {
                Some(Fault::MissingName { owner: h.text("owner"), name: h.text("name") })
            }),
        ),
        (
            "AttributeError",
            row("^type object {owner:q} has no attribute {name:q}", |h| {
                Some(Fault::MissingName { owner: h.text("owner"), name: h.text("name") })
            }),
        ),
        (
            "AttributeError",
            row("^{owner:q} object has no attribute {name:q}", |h| {
                Some(Fault::MissingName {
                    owner: h.text("owner"),
                    name: unquote(h.get("name").trim_end_matches('.')).to_owned(),
                })
            }),
        ),
        (
            "NameError",
            row("^name {name:q} is not defined", |h| Some(Fault::UndefinedName { name: h.text("name") })),
        ),
        (
            "UnboundLocalError",
            row("local variable {name:q} ", |h| Some(Fault::UndefinedName { name: h.text("name") })),
        ),
        (
            "UnicodeDecodeError",
            row("^{codec:q} codec can't decode", |h| Some(Fault::Encoding { codec: h.text("codec") })),
        ),
        (
            "UnicodeEncodeError",
            row("^{codec:q} codec can't encode", |h| Some(Fault::Encoding { codec: h.text("codec") })),
        ),
        (
            "LookupError",
            row("^unknown encoding: {codec:w}", |h| Some(Fault::Encoding { codec: h.text("codec") })),
        ),
        (
            "SyntaxError",
            row("^(unicode error) {codec:q} codec can't decode", |h| {
                Some(Fault::Syntax {
                    near: None,
                    message: format!("(unicode error) {} codec", h.get("codec")),
                })
            }),
        ),
        (
            "ValueError",
            row("^not enough values to unpack", |h| Some(unpack(h.after, "not enough values to unpack"))),
        ),
        (
            "ValueError",
            row("^too many values to unpack", |h| Some(unpack(h.after, "too many values to unpack"))),
        ),
        (
            "ValueError",
            row("^invalid literal for int() with base {base:n}: {value:q}", |h| {
                Some(bad(h.get("value"), &format!("invalid literal for int() with base {}", h.get("base"))))
            }),
        ),
        (
            "ValueError",
            row("^could not convert string to float: {value:q}", |h| {
                Some(bad(h.get("value"), "could not convert string to float"))
            }),
        ),
        (
            "ValueError",
            row("^time data {value:q} does not match format {format:q}", |h| {
                Some(bad(h.get("value"), &format!("time data does not match format {}", h.get("format"))))
            }),
        ),
        (
            "ValueError",
            row("^Invalid isoformat string: {value:q}", |h| {
                Some(bad(h.get("value"), "Invalid isoformat string"))
            }),
        ),
        (
            "ValueError",
            row("^unconverted data remains: {value}$", |h| {
                Some(bad(h.get("value"), "unconverted data remains"))
            }),
        ),
        (
            "JSONDecodeError",
            row("^Unexpected UTF-8 BOM", |_| Some(Fault::Encoding { codec: "utf-8-sig".into() })),
        ),
        ("RequirementParseError", row("^{value}$", |h| Some(bad(h.get("value"), "requirement")))),
    ]
});

fn bad(value: &str, message: &str) -> Fault {
    Fault::BadValue { value: Some(bounded(value)), message: message.to_owned() }
}

fn unpack(after: &str, what: &str) -> Fault {
    Fault::IndexOutOfRange { message: bounded(&format!("{what}{after}")) }
}

/// What the message of an exception says.
pub fn by_message(name: &str, message: &str) -> Option<Fault> {
    let short = name.rsplit('.').next().unwrap_or(name);
    TABLE
        .iter()
        .filter(|(exception, _)| *exception == short)
        .find_map(|(_, row)| row.template.find(message).and_then(|holes| (row.make)(&holes)))
}

/// What Python says outside of a traceback, and what scripts print of an exception that they caught.
pub fn rows() -> Vec<Row> {
    vec![
        row("No module named {name:q}", |h| {
            let name = unquote(h.get("name").trim_end_matches([';', ',', '.']));
            (!name.is_empty()).then(|| Fault::MissingModule { name: name.to_owned() })
        }),
        row("cannot import name {name:q} from {owner:q} ", |h| {
            Some(Fault::MissingName { owner: h.text("owner"), name: h.text("name") })
        }),
        row("{codec:q} codec can't decode byte", |h| {
            Some(Fault::Encoding { codec: last_word(h.get("codec")) })
        }),
        row("{codec:q} codec can't encode character", |h| {
            Some(Fault::Encoding { codec: last_word(h.get("codec")) })
        }),
        row("SyntaxError: Non-UTF-8 code starting with", |_| Some(Fault::Encoding { codec: "utf-8".into() })),
        row("error: the following arguments are required: {value}$", |h| {
            Some(bad(h.get("value"), "the following arguments are required"))
        }),
        row("error: unrecognized arguments: {option:w}", |h| {
            let command = crate::parsers::tool_before(h.before).unwrap_or_default();
            Some(Fault::UnknownOption {
                command: command.trim_end_matches(".py").to_owned(),
                option: h.text("option"),
            })
        }),
        row("error: argument {argument}: invalid {kind} value: {value:q}", |h| {
            Some(bad(
                h.get("value"),
                &format!("argument {}: invalid {} value", h.get("argument"), h.get("kind")),
            ))
        }),
    ]
}

/// The last word of what stands before ` codec`, without quotes.
fn last_word(text: &str) -> String {
    let word = text.rsplit(' ').next().unwrap_or(text);
    unquote(word).trim_matches(['\'', '"']).to_owned()
}
