//! Small tools for edits to Python programs.

use std::ops::Range;

use selfheal_syntax::python::Module;
use selfheal_syntax::tree::{Node, children};

use crate::case::{Case, Language, ScriptFile};

/// An edit: bytes and what stands there afterwards.
pub(crate) type Part = (Range<usize>, String);

/// The Python files of a case, parsed; where the failure happened first.
pub(crate) fn modules(case: &Case) -> Vec<(ScriptFile, Module)> {
    let files = case.files().into_iter().filter(|file| file.language == Language::Python).take(10);
    files.filter_map(|file| Module::parse(&file.text).ok().map(|module| (file, module))).collect()
}

/// The first byte of the line that holds a byte.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// The line, from 1, of a byte.
pub(crate) fn line_of(text: &str, at: usize) -> u32 {
    text.get(..at).map_or(0, |before| before.matches('\n').count()) as u32 + 1
}

/// An edit that imports a module, at its place in the alphabet among the plain imports; `None` when it is imported.
pub(crate) fn import(module: &Module, name: &str) -> Option<Part> {
    let text = module.text();
    let imports = module.imports();
    let first = name.split('.').next().unwrap_or(name);
    if imports.iter().any(|import| import.name.is_none() && import.alias.is_none() && import.module == name) {
        return None;
    }
    let top = |at: usize| line_start(text, at) == at;
    let plain: Vec<_> = imports.iter().filter(|i| i.name.is_none() && top(i.statement.start)).collect();
    let line = format!("import {name}\n");
    if let Some(next) = plain.iter().find(|import| import.module.as_str() > first) {
        return Some((next.statement.start..next.statement.start, line));
    }
    let after = plain.last().map(|import| import.statement.end);
    let before = imports.iter().find(|import| import.module != "__future__" && top(import.statement.start));
    let at = match (after, before) {
        (Some(end), _) => next_line(text, end),
        (None, Some(import)) => import.statement.start,
        (None, None) => after_docstring(module),
    };
    Some((at..at, line))
}

/// The first byte of the line after a byte.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end + 1)
}

/// Where code may begin: after the first comments, the docstring and `from __future__`.
fn after_docstring(module: &Module) -> usize {
    let text = module.text();
    let mut at = 0;
    for node in children(module.root()) {
        let docstring =
            node.kind() == "expression_statement" && node.child(0).is_some_and(|c| c.kind() == "string");
        match node.kind() {
            "comment" | "future_import_statement" => at = next_line(text, node.end_byte()),
            _ if docstring => return next_line(text, node.end_byte()),
            _ => break,
        }
    }
    at
}

/// The byte after the last import at top level, at the beginning of a line; where code may begin when there is none.
pub(crate) fn after_imports(module: &Module) -> usize {
    let text = module.text();
    let imports = module.imports();
    let last =
        imports.iter().rfind(|import| line_start(text, import.statement.start) == import.statement.start);
    last.map_or_else(|| after_docstring(module), |import| next_line(text, import.statement.end))
}

/// The statement that holds a node, as a direct child of a block or of the module.
pub(crate) fn statement(node: Node<'_>) -> Node<'_> {
    let mut at = node;
    while let Some(parent) = at.parent() {
        if matches!(parent.kind(), "block" | "module") {
            return at;
        }
        at = parent;
    }
    at
}

/// The smallest node that covers some bytes.
pub(crate) fn node_at<'m>(module: &'m Module, span: &Range<usize>) -> Option<Node<'m>> {
    module.root().descendant_for_byte_range(span.start, span.end)
}

/// An edit that puts a line before the statement that holds a node, with its indentation. `None` when the statement does
/// not begin its line.
pub(crate) fn put_before(module: &Module, node: Node<'_>, line: &str) -> Option<Part> {
    let text = module.text();
    let start = statement(node).start_byte();
    let begin = line_start(text, start);
    let indent = text.get(begin..start)?;
    indent.trim().is_empty().then(|| (begin..begin, format!("{indent}{line}\n")))
}

/// An edit that adds a keyword argument to a call, given the bytes of the call.
pub(crate) fn add_argument(module: &Module, call: &Range<usize>, argument: &str) -> Option<Part> {
    let text = module.text();
    let at = call.end.checked_sub(1)?;
    let inner = text.get(call.start..at)?.trim_end();
    let end = call.start + inner.len();
    let glue = if inner.ends_with('(') {
        ""
    } else if inner.ends_with(',') {
        " "
    } else {
        ", "
    };
    Some((end..end, format!("{glue}{argument}")))
}

/// The text with everything inside of strings and comments blanked out, byte for byte, so that what is found is code. Works
/// on text that does not parse.
pub(crate) fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    let blank = |out: &mut Vec<u8>, from: usize, to: usize| {
        out.iter_mut().take(to).skip(from).filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'#' => {
                let end =
                    text.get(at..).and_then(|rest| rest.find('\n')).map_or(bytes.len(), |found| at + found);
                blank(&mut out, at, end);
                at = end;
            }
            b'"' | b'\'' => {
                let end = string_end(bytes, at);
                blank(&mut out, at + 1, end.saturating_sub(1));
                at = end;
            }
            _ => at += 1,
        }
    }
    String::from_utf8(out)
        .unwrap_or_else(|_| text.chars().map(|c| if c.is_ascii() { c } else { ' ' }).collect())
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes.get(start).copied().unwrap_or(b'"');
    let triple = bytes.get(start + 1) == Some(&quote) && bytes.get(start + 2) == Some(&quote);
    let mut at = if triple { start + 3 } else { start + 1 };
    while let Some(byte) = bytes.get(at) {
        let closes = if triple {
            bytes.get(at..at + 3).is_some_and(|three| three.iter().all(|byte| *byte == quote))
        } else {
            *byte == quote
        };
        match byte {
            b'\\' => at += 2,
            _ if closes => return at + if triple { 3 } else { 1 },
            b'\n' if !triple => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The bytes between a parenthesis at `open` and its partner, in text from [`code_only`].
pub(crate) fn in_brackets(code: &str, open: usize) -> Option<Range<usize>> {
    let mut depth = 0_u32;
    for (at, c) in code.get(open..)?.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(open + 1..open + at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where commas outside of brackets are, in text from [`code_only`].
pub(crate) fn commas(code: &str) -> Vec<usize> {
    let mut depth = 0_i32;
    let mut out = Vec::new();
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => out.push(at),
            _ => {}
        }
    }
    out
}

/// The existing files that a program's string literals and the job's arguments name; patterns are expanded. At most 50.
pub(crate) fn data_files(case: &Case, module: &Module) -> Vec<std::path::PathBuf> {
    let literals = module.nodes("string").into_iter().filter_map(|node| module.string(node));
    let arguments = case.argv.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    let is_file = |file: &std::path::Path| {
        case.scene.facts(file).is_some_and(|facts| facts.kind == selfheal_core::scene::Kind::File)
    };
    let mut files: Vec<std::path::PathBuf> = Vec::new();
    for file in seen_files(case) {
        if is_file(&file) && !files.contains(&file) {
            files.push(file);
        }
    }
    for name in
        literals.chain(arguments).filter(|name| !name.is_empty() && name.len() < 300 && !name.contains('\n'))
    {
        let path = std::path::Path::new(&name);
        let found: Vec<std::path::PathBuf> = if crate::globs::is_pattern(&name) {
            case.places(path).iter().flat_map(|place| crate::globs::expand(case.scene, place)).collect()
        } else {
            case.find(path).into_iter().collect()
        };
        for file in found {
            if is_file(&file) && !files.contains(&file) && files.len() < 50 {
                files.push(file);
            }
        }
    }
    files
}

/// The lines of a file in which the failure may have begun: the report's and those of the frames.
pub(crate) fn failing_lines(case: &Case, file: &std::path::Path) -> Vec<u32> {
    let place =
        case.report.location.iter().filter(|place| case.places(&place.file).iter().any(|at| at == file));
    let frames = case.trace.map_or(&[][..], |trace| &trace.frames).iter().filter(|frame| frame.file == file);
    place.map(|place| place.line).chain(frames.map(|frame| frame.line)).collect()
}

/// The files that a program may read without naming them: those of the folder that it names, and of the values that a probe saw.
fn seen_files(case: &Case) -> Vec<std::path::PathBuf> {
    let values = case.trace.into_iter().flat_map(|trace| trace.frames.iter().rev());
    let values = values.flat_map(|frame| frame.values.values());
    let paths = values.filter_map(|value| {
        let inner = value.trim().trim_end_matches(')');
        let inner = inner.rsplit('(').next().unwrap_or(inner).trim_matches(['\'', '"']);
        (inner.len() < 300 && inner.contains(['.', '/'])).then(|| std::path::PathBuf::from(inner))
    });
    paths.take(200).filter_map(|path| case.find(&path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::splice;

    #[test]
    fn imports_go_to_their_place() {
        let with = |text: &str, name: &str| {
            let module = Module::parse(text).unwrap();
            splice(text, import(&module, name).into_iter().collect())
        };
        assert_eq!(with("import os\nimport sys\n", "re"), "import os\nimport re\nimport sys\n");
        assert_eq!(with("import os\nfrom a import b\n", "sys"), "import os\nimport sys\nfrom a import b\n");
        assert_eq!(with("#!/x\n\"\"\"D.\"\"\"\nx = 1\n", "os"), "#!/x\n\"\"\"D.\"\"\"\nimport os\nx = 1\n");
        assert_eq!(with("import os\n", "os"), "import os\n");
    }

    #[test]
    fn code_only_blanks_strings_and_comments() {
        let text = "a = 'b # c' # d\n\"\"\"x\ny\"\"\" + b";
        assert_eq!(code_only(text), "a = '     '    \n\"   \n   \" + b");
    }
}
