//! Java and other languages of its machine: uncaught exceptions with their stack. The one that ended the program says where
//! and in which words; the last `Caused by:` of which kind it is, where the first does not tell.

use selfheal_core::fault::Fault;

use super::{Block, Found, Line, Spot, bounded};

/// Reads an uncaught exception and its stack.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    let text = first
        .text
        .strip_prefix("Exception in thread ")
        .map(|rest| rest.split_once("\" ").map_or(rest, |(_, rest)| rest));
    let text = text.or_else(|| first.text.strip_prefix("Caused by: "));
    let text = text.or_else(|| {
        let next = lines.get(1)?;
        (next.text.trim_start().starts_with("at ") && next.text.contains(".java:")).then_some(first.text)
    })?;
    let mut cause = None;
    let mut spots = Vec::new();
    let mut taken = 1;
    for line in lines.iter().skip(1).take(300) {
        let text = line.text.trim_start();
        if let Some(below) = text.strip_prefix("Caused by: ") {
            cause = Some((below, line));
        } else if let Some(frame) = text.strip_prefix("at ") {
            spots.extend(spot(frame));
        } else if !text.starts_with("... ") {
            break;
        }
        taken += 1;
    }
    spots.truncate(8);
    let mut fault = fault(text, first);
    if let (Fault::Other { .. }, Some((below, line))) = (&fault, cause) {
        fault = self::fault(below, line);
    }
    Some((vec![Found::new(fault, first).at(spots)], taken))
}

/// What the compiler and the launcher say.
pub fn rows() -> Vec<super::Row> {
    use super::row;
    use selfheal_core::outcome::Class;
    vec![
        row("^{file:w}:{line:n}: error: {message} expected", |h| {
            Some(Fault::Syntax { near: None, message: bounded(&format!("{} expected", h.get("message"))) })
        }),
        row("^{file:w}:{line:n}: error: cannot find symbol", |_| {
            Some(Fault::Other { message: "cannot find symbol".into() })
        })
        .class(Class::Logic),
        row("^{file:w}:{line:n}: error: package {name:w} does not exist", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
        row("^Error: Unable to access jarfile {path:w}", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("^Error: Could not find or load main class {name:w}", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
    ]
}

/// `com.x.Main.run(Main.java:12)`.
fn spot(frame: &str) -> Option<Spot> {
    let (function, place) = frame.split_once('(')?;
    let (file, line) = place.trim_end_matches(')').split_once(':')?;
    let foreign = ["java.", "jdk.", "sun.", "java.base/"].iter().any(|part| function.starts_with(part));
    (!foreign).then_some(())?;
    Some(Spot { function: Some(bounded(function)), ..Spot::new(file, line.parse().ok()?) })
}

fn fault(text: &str, line: &Line<'_>) -> Fault {
    let (class, message) = text.split_once(": ").unwrap_or((text, ""));
    match class.rsplit('.').next().unwrap_or(class) {
        "ClassNotFoundException" | "NoClassDefFoundError" => {
            Fault::MissingModule { name: message.to_owned() }
        }
        "NoSuchMethodError" | "NoSuchFieldError" => {
            Fault::MissingName { owner: String::new(), name: bounded(message) }
        }
        "FileNotFoundException" | "NoSuchFileException" => {
            Fault::NoSuchPath { path: message.split(" (").next().unwrap_or(message).into() }
        }
        "AccessDeniedException" => Fault::PermissionDenied { path: Some(message.into()) },
        "ArrayIndexOutOfBoundsException" | "IndexOutOfBoundsException" => {
            Fault::IndexOutOfRange { message: bounded(message) }
        }
        "NullPointerException" | "ClassCastException" => Fault::WrongType { message: bounded(message) },
        "NumberFormatException" | "DateTimeParseException" => {
            Fault::BadValue { value: None, message: bounded(message) }
        }
        "OutOfMemoryError" => Fault::OutOfMemory,
        "SocketTimeoutException" => Fault::Network { how: "timeout".into(), host: None },
        "ConnectException" => Fault::Network { how: "refused".into(), host: None },
        "UnknownHostException" => Fault::Network { how: "resolve".into(), host: Some(bounded(message)) },
        "UnsupportedClassVersionError" => Fault::Mismatch { message: bounded(message) },
        _ => {
            let inner = Line { rest: message, spot: None, ..line.clone() };
            super::by_tables(&inner)
                .map_or_else(|| Fault::Other { message: bounded(text) }, |found| found.fault)
        }
    }
}
