//! Ruby: `x.rb:3:in 'm': message (Error)`.

use selfheal_core::fault::Fault;

use super::{Block, Found, Line, Row, Spot, bounded, row};
use crate::template::unquote;

/// Reads the head line of an uncaught exception and the frames below it.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    let (place, message) = first.text.split_once(": ")?;
    let (place, function) = place.split_once(":in ")?;
    let spot = spot(place, function)?;
    let (message, class) = message.trim_end().rsplit_once(" (")?;
    let class = class.strip_suffix(')')?;
    let plain = class.chars().next()?.is_ascii_uppercase() && !class.contains(' ');
    plain.then_some(())?;
    let frames =
        lines.iter().skip(1).take(100).take_while(|line| line.text.trim_start().starts_with("from "));
    let mut spots = vec![spot];
    let mut taken = 1;
    for line in frames {
        taken += 1;
        let inner = line.text.trim_start().trim_start_matches("from ");
        spots.extend(inner.split_once(":in ").and_then(|(place, function)| self::spot(place, function)));
    }
    spots.truncate(8);
    Some((vec![Found::new(fault(class, message, first), first).at(spots)], taken))
}

fn spot(place: &str, function: &str) -> Option<Spot> {
    let (file, line) = place.rsplit_once(':')?;
    let function = unquote(function.split(": ").next()?).to_owned();
    Some(Spot { function: Some(function), ..Spot::new(file, line.parse().ok()?) })
}

fn fault(class: &str, message: &str, line: &Line<'_>) -> Fault {
    let text = || bounded(message);
    let quoted = || crate::template::last_quoted(message).unwrap_or(message).to_owned();
    match class {
        "LoadError" => {
            Fault::MissingModule { name: message.rsplit(" -- ").next().unwrap_or(message).to_owned() }
        }
        "KeyError" => Fault::KeyMissing {
            key: message.rsplit(": ").next().unwrap_or(message).trim_matches(['"', ':']).to_owned(),
        },
        "NameError" => Fault::UndefinedName { name: first_quoted(message) },
        "NoMethodError" => Fault::MissingName { owner: quoted(), name: first_quoted(message) },
        "TypeError" => Fault::WrongType { message: text() },
        "IndexError" => Fault::IndexOutOfRange { message: text() },
        "SyntaxError" => Fault::Syntax { near: None, message: text() },
        "ArgumentError" | "JSON::ParserError" | "ZeroDivisionError" => {
            Fault::BadValue { value: None, message: text() }
        }
        "Encoding::UndefinedConversionError" | "Encoding::InvalidByteSequenceError" => {
            Fault::Encoding { codec: String::new() }
        }
        _ => {
            let message = message.split(" @ ").next().unwrap_or(message);
            let name =
                line.text.rsplit_once(" - ").map_or("", |(_, name)| name.split(" (").next().unwrap_or(name));
            let joined = format!("{name}: {message}");
            super::errno::line(&Line { rest: &joined, spot: None, ..line.clone() })
                .map_or(Fault::Other { message: text() }, |found| found.fault)
        }
    }
}

fn first_quoted(message: &str) -> String {
    message.split(['`', '\'']).nth(1).unwrap_or(message).to_owned()
}

/// What ruby says on single lines.
pub fn rows() -> Vec<Row> {
    vec![
        row("ruby: No such file or directory -- {path:w}", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("Could not find gem {name:q}", |h| Some(Fault::MissingModule { name: h.text("name") })),
        row("Could not find {name:w} in locally installed gems", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
    ]
}
