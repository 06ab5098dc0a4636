//! Ruby: `x.rb:3:in 'm': message (Error)`.

use selfheal_core::fault::Fault;

use super::{Block, Found, Line, Row, Spot, bounded, row};
use crate::template::unquote;

/// Reads an uncaught exception with what caused it, which ruby tells below it: the first is what ended the program.
pub fn block(lines: &[Line<'_>]) -> Block {
    let (mut first, mut taken) = one(lines)?;
    let mut causes = Vec::new();
    while let Some((mut cause, used)) = lines.get(taken..).and_then(one).filter(|_| causes.len() < 20) {
        let same = |one: &Found| one.spots.last().map(|spot| (spot.file.clone(), spot.function.clone()));
        if same(&cause) != same(&first) {
            break;
        }
        taken += used;
        if matches!(first.fault, Fault::Other { .. }) {
            // Its own words say where and what, the cause says of which kind.
            first.fault = cause.fault.clone();
            first.weight = first.weight.max(cause.weight);
        }
        cause.weight = cause.weight.min(first.weight.saturating_sub(10));
        causes.push(cause);
    }
    causes.insert(0, first);
    Some((causes, taken))
}

/// Reads the head line of an exception and the frames below it.
fn one(lines: &[Line<'_>]) -> Option<(Found, usize)> {
    let first = lines.first()?;
    let (place, message) = first.text.split_once(": ")?;
    let (place, function) = place.split_once(":in ")?;
    let spot = spot(place, function)?;
    let (message, class) = message.trim_end().rsplit_once(" (")?;
    let class = class.strip_suffix(')')?;
    let plain = class.chars().next()?.is_ascii_uppercase() && !class.contains(' ');
    plain.then_some(())?;
    let is_frame = |line: &&Line<'_>| line.text.trim_start().starts_with("from ");
    // A message may go on below its first line.
    let more = lines.iter().skip(1).take(6).position(|line| is_frame(&line)).unwrap_or(0);
    let frames = lines.iter().skip(1 + more).take(100).take_while(is_frame);
    let mut spots = vec![spot];
    let mut taken = 1 + more;
    for line in frames {
        taken += 1;
        let inner = line.text.trim_start().trim_start_matches("from ");
        spots.extend(inner.split_once(":in ").and_then(|(place, function)| self::spot(place, function)));
    }
    // Where the language's own library raised it, the caller is meant.
    let own = spots.iter().position(|spot| is_own(&spot.file.to_string_lossy())).unwrap_or(0);
    spots.drain(..own);
    if message.starts_with("wrong number of arguments") && spots.len() > 1 {
        // The place is that of what was called; the caller is meant.
        spots.rotate_left(1);
    }
    spots.truncate(8);
    Some((Found::new(fault(class, message, first), first).at(spots), taken))
}

fn is_own(file: &str) -> bool {
    !["<internal:", "/lib/ruby/", "/gems/", "/vendor_ruby/"].iter().any(|part| file.contains(part))
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
        "NoMethodError" => {
            let owner =
                message.rsplit_once(" for ").map_or_else(quoted, |(_, owner)| unquote(owner).to_owned());
            Fault::MissingName { owner, name: first_quoted(message) }
        }
        "TypeError" => Fault::WrongType { message: text() },
        "IndexError" => Fault::IndexOutOfRange { message: text() },
        "SyntaxError" => Fault::Syntax { near: None, message: text() },
        "ArgumentError" | "JSON::ParserError" | "ZeroDivisionError" => {
            Fault::BadValue { value: None, message: text() }
        }
        "Encoding::UndefinedConversionError" | "Encoding::InvalidByteSequenceError" => {
            Fault::Encoding { codec: String::new() }
        }
        _ if class.starts_with("Errno::E") && network(class).is_some() => {
            Fault::Network { how: network(class).unwrap_or_default().into(), host: None }
        }
        "SocketError" | "Socket::ResolutionError" => Fault::Network { how: "resolve".into(), host: None },
        "Net::OpenTimeout" | "Net::ReadTimeout" => Fault::Network { how: "timeout".into(), host: None },
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

fn network(class: &str) -> Option<&'static str> {
    Some(match class {
        "Errno::ECONNREFUSED" => "refused",
        "Errno::ECONNRESET" | "Errno::EPIPE" => "reset",
        "Errno::ETIMEDOUT" => "timeout",
        "Errno::EHOSTUNREACH" | "Errno::ENETUNREACH" => "unreachable",
        _ => return None,
    })
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
        row("^{file:w}:{line:n}: syntax error", |h| {
            Some(Fault::Syntax { near: None, message: bounded(&format!("syntax error{}", h.after)) })
        }),
        row("Could not find gem {name:q}", |h| Some(Fault::MissingModule { name: h.text("name") })),
        row("Could not find {name:w} in locally installed gems", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
    ]
}
