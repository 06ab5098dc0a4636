//! Calls of Python's standard library whose form changed, not only their name.

use std::ops::Range;

use selfheal_syntax::python::{Argument, Call, Module};

/// An edit with a word on what it does.
type Form = (Range<usize>, String, String);

/// Functions that take patterns.
const PATTERNS: &[&str] = &[
    "re.compile",
    "re.match",
    "re.search",
    "re.fullmatch",
    "re.findall",
    "re.finditer",
    "re.split",
    "re.sub",
    "re.subn",
];

/// The edits for all calls of a module, and the modules that they need.
pub(crate) fn parts(module: &Module) -> (Vec<Form>, Vec<&'static str>) {
    let mut parts = Vec::new();
    let mut imports = Vec::new();
    for call in module.calls() {
        match call.resolved.as_str() {
            "open" | "io.open" => parts.extend(mode(&call)),
            "cgi.escape" => parts.extend(escape(&call)),
            name if PATTERNS.contains(&name) => parts.extend(flags(&call)),
            name if name.starts_with("plistlib.") => {
                if let Some(form) = plist(&call) {
                    parts.push(form);
                    imports.extend(["plistlib", "pathlib"]);
                }
            }
            "string.join" => parts.extend(join(&call)),
            "inspect.getargspec" => parts.extend(four(module, &call)),
            name if name.ends_with(".unescape") => {
                if let Some(form) = unescape(&call) {
                    parts.push(form);
                    imports.push("html");
                }
            }
            _ => {}
        }
        parts.extend(dropped_argument(module, &call));
    }
    (parts, imports)
}

/// Arguments that did nothing any more before they were removed: functions, argument. Of `json` since Python 3.9, of `asyncio`
/// since 3.10, of `plistlib` since 3.9.
const DROPPED: &[(&[&str], &str)] = &[
    (&["json.loads", "json.load", "json.dumps", "json.dump"], "encoding"),
    (
        &[
            "asyncio.sleep",
            "asyncio.gather",
            "asyncio.wait",
            "asyncio.wait_for",
            "asyncio.shield",
            "asyncio.as_completed",
            "asyncio.Lock",
            "asyncio.Event",
            "asyncio.Condition",
            "asyncio.Semaphore",
            "asyncio.Queue",
            "asyncio.open_connection",
            "asyncio.start_server",
            "asyncio.create_subprocess_exec",
            "asyncio.create_subprocess_shell",
        ],
        "loop",
    ),
    (&["plistlib.load", "plistlib.loads"], "use_builtin_types"),
];

/// A named argument of today's Python's past, with the comma before it.
fn dropped_argument(module: &Module, call: &Call) -> Option<Form> {
    let (_, name) = DROPPED.iter().find(|(calls, _)| calls.contains(&call.resolved.as_str()))?;
    // Other encodings than the one that text has anyway would change what is read.
    let plain = |value: &str| *name != "encoding" || value.to_lowercase().replace('-', "").contains("utf8");
    let given = call.keyword(name).filter(|given| plain(&given.text))?;
    let before = module.text().get(call.span.start..given.span.start)?;
    let start = call.span.start + before.rfind(',')?;
    let end = given.span.end;
    Some((
        start..end,
        String::new(),
        format!("without the argument {name}, which did nothing and was removed"),
    ))
}

/// The mode `U`, which has been the default for text since Python 3.0 and was removed in 3.11.
fn mode(call: &Call) -> Option<Form> {
    let mode = call.keyword("mode").or_else(|| call.arguments.get(1))?;
    let old = mode.string.as_deref().filter(|mode| mode.contains('U'))?;
    let new: String = old.chars().filter(|c| *c != 'U').collect();
    let new = if new.is_empty() { "r".to_owned() } else { new };
    Some((
        mode.span.clone(),
        mode.text.replacen(old, &new, 1),
        "without the mode U, which is what text files have anyway".into(),
    ))
}

/// `html.escape` also escapes quotes unless told otherwise, and `cgi.escape` never escaped the single one.
fn escape(call: &Call) -> Option<Form> {
    let first = call.arguments.first()?;
    let flag = call.keyword("quote").or_else(|| call.arguments.get(1));
    let end = match flag.map(|flag| flag.text.as_str()) {
        None | Some("False" | "0" | "None") => ", quote=False)".to_owned(),
        Some("True" | "1") => ", quote=False).replace('\"', \"&quot;\")".to_owned(),
        Some(_) => return None,
    };
    Some((first.span.end..call.span.end, end, "escape leaves quotes as it did".into()))
}

/// Flags in the middle of a pattern hold for all of it; since Python 3.11 they must stand at its start.
fn flags(call: &Call) -> Option<Form> {
    let pattern = call.arguments.first()?;
    pattern.string.as_ref()?;
    let text = &pattern.text;
    let open = text.find(['"', '\''])?;
    let quote = text.get(open..open + 1)?;
    let triple = quote.repeat(3);
    let begin = open + if text.get(open..)?.starts_with(&triple) { 3 } else { 1 };
    // Of glued literals and of f-strings nobody knows where the pattern begins.
    let prefix = text.get(..open)?.to_lowercase();
    if prefix.contains('f') || text.matches(quote).count() > 2 * (begin - open) {
        return None;
    }
    let mut body = text.get(begin..)?.to_owned();
    let mut moved = String::new();
    let mut from = 0;
    while let Some(at) = body.get(from..).and_then(|rest| rest.find("(?")).map(|at| from + at) {
        let letters: String = body.get(at + 2..)?.chars().take_while(char::is_ascii_alphabetic).collect();
        let end = at + 2 + letters.len();
        let whole = body.get(end..).is_some_and(|rest| rest.starts_with(')')) && !letters.is_empty();
        let escaped = body.get(..at).is_some_and(|before| before.ends_with(['\\', '[']));
        if whole && !escaped && at > 0 && letters.chars().all(|c| "aiLmsux".contains(c)) {
            body.replace_range(at..end + 1, "");
            moved.extend(letters.chars().filter(|c| !moved.contains(*c)).collect::<Vec<_>>());
            from = at;
        } else {
            from = end;
        }
    }
    if moved.is_empty() || body.starts_with("(?") {
        return None;
    }
    let new = format!("{}(?{moved}){body}", text.get(..begin)?);
    Some((pattern.span.clone(), new, "the flag inside of a pattern stands at its start".into()))
}

/// `plistlib.readPlist` and its family, removed in Python 3.9, took names of files.
fn plist(call: &Call) -> Option<Form> {
    let first = call.arguments.first()?;
    let second = call.arguments.get(1).map(|a| a.text.as_str()).unwrap_or_default();
    let name = call.resolved.strip_prefix("plistlib.")?;
    let opened = |argument: &Argument| argument.text.starts_with("open(");
    let new = match name {
        "readPlist" if opened(first) => format!("plistlib.load({})", first.text),
        "readPlist" => format!("plistlib.loads(pathlib.Path({}).read_bytes())", first.text),
        "readPlistFromBytes" | "readPlistFromString" => format!("plistlib.loads({})", first.text),
        "writePlist" if !second.is_empty() && !second.starts_with("open(") => {
            format!("pathlib.Path({second}).write_bytes(plistlib.dumps({}))", first.text)
        }
        "writePlistToBytes" | "writePlistToString" => format!("plistlib.dumps({})", first.text),
        _ => return None,
    };
    Some((call.span.clone(), new, format!("{name} is load, loads or dumps")))
}

/// `getfullargspec` gives seven values where `getargspec` gave four.
fn four(module: &Module, call: &Call) -> Option<Form> {
    let node = crate::python::node_at(module, &call.span)?;
    let parent = node.parent().filter(|parent| parent.kind() == "assignment")?;
    let unpacked = parent.child_by_field_name("left").is_some_and(|left| left.kind() == "pattern_list");
    let end = call.span.end;
    unpacked.then(|| (end..end, "[:4]".to_owned(), "getargspec gave four values".into()))
}

/// `HTMLParser().unescape(text)`, removed in Python 3.9.
fn unescape(call: &Call) -> Option<Form> {
    let object = call.callee.strip_suffix(".unescape")?;
    let known = ["HTMLParser()", "HTMLParser.HTMLParser()", "html.parser.HTMLParser()"].contains(&object);
    known.then(|| {
        (
            call.span.start..call.span.start + call.callee.len(),
            "html.unescape".to_owned(),
            "unescape is a function of html".into(),
        )
    })
}

/// `string.join(words, separator)`.
fn join(call: &Call) -> Option<Form> {
    let words = &call.arguments.first()?.text;
    let separator = call.arguments.get(1).map_or("\" \"", |argument| argument.text.as_str());
    let simple = separator.starts_with(['"', '\'']) || separator.chars().all(crate::text::is_name);
    simple.then(|| {
        (call.span.clone(), format!("{separator}.join({words})"), "join is a method of the separator".into())
    })
}
