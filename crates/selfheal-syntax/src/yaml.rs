//! The outline of a YAML file: keys, scalars and lists by indentation.
//!
//! No whole YAML: anchors, tags and flow collections stay the text of their scalar. That is what pipelines and playbooks
//! need to be compared step by step, and it cannot be made slow: every line is read once.

/// One entry: a key, a list item, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The line, from 1.
    pub line: u32,
    /// The blanks before the key.
    pub indent: usize,
    /// Whether it begins a list item.
    pub item: bool,
    /// The key; empty for a plain list item.
    pub key: String,
    /// The scalar behind it, without quotes and comment; empty when there is none.
    pub value: String,
    /// The lines of a block scalar (`|` or `>`), each with its number.
    pub block: Vec<(u32, String)>,
}

/// Every entry, in the order of the text.
#[must_use]
pub fn entries(text: &str) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::new();
    let mut lines = text.lines().zip(1_u32..).peekable();
    while let Some((line, number)) = lines.next() {
        let mut rest = line.trim_start();
        if rest.is_empty() || rest.starts_with('#') || rest.starts_with("---") || rest.starts_with('%') {
            continue;
        }
        let mut indent = line.len() - rest.len();
        let mut item = false;
        while let Some(inner) = rest.strip_prefix("- ").or((rest == "-").then_some("")) {
            item = true;
            let shorter = inner.trim_start();
            indent += rest.len() - shorter.len();
            rest = shorter;
        }
        let (key, value) = split(rest);
        let mut entry = Entry { line: number, indent, item, key, value, block: Vec::new() };
        if is_block_mark(&entry.value) {
            entry.value.clear();
            // The lines of a block are deeper than its key; blank ones belong to it.
            let outer = line.len() - line.trim_start().len();
            while let Some((inner, _)) = lines.peek() {
                let depth = inner.len() - inner.trim_start().len();
                if !inner.trim().is_empty() && depth <= outer {
                    break;
                }
                let (inner, at) = lines.next().unwrap_or_default();
                entry.block.push((at, inner.to_owned()));
            }
            dedent(&mut entry.block);
        }
        out.push(entry);
    }
    out
}

/// The entries below the entry at an index: those that are deeper, and for a list item its other keys.
#[must_use]
pub fn below(entries: &[Entry], at: usize) -> &[Entry] {
    let Some(own) = entries.get(at) else { return &[] };
    let rest = entries.get(at + 1..).unwrap_or_default();
    let end = rest.iter().position(|entry| {
        // The items of a list may stand at the depth of its key.
        entry.indent < own.indent
            || (entry.indent == own.indent && !entry.item)
            || (entry.item && own.item && entry.indent <= own.indent)
    });
    rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
}

/// The list item that an entry belongs to, as the range of its entries.
#[must_use]
pub fn item_around(entries: &[Entry], at: usize) -> std::ops::Range<usize> {
    let indent = entries.get(at).map_or(0, |entry| entry.indent);
    let mut start = at;
    while start > 0 && entries.get(start).is_some_and(|e| !(e.item && e.indent <= indent)) {
        let above = entries.get(start - 1).map_or(0, |entry| entry.indent);
        if above < indent && !entries.get(start - 1).is_some_and(|e| e.item) {
            break;
        }
        start -= 1;
    }
    let rest = entries.get(at + 1..).unwrap_or_default();
    let len = rest
        .iter()
        .position(|entry| entry.indent < indent || (entry.indent == indent && entry.item))
        .unwrap_or(rest.len());
    start..at + 1 + len
}

fn is_block_mark(value: &str) -> bool {
    let mut chars = value.chars();
    matches!(chars.next(), Some('|' | '>')) && chars.all(|c| matches!(c, '+' | '-') || c.is_ascii_digit())
}

/// Key and scalar of a line; the key is empty for a plain scalar.
fn split(text: &str) -> (String, String) {
    let plain = |text: &str| text.trim_matches(['"', '\'']).to_owned();
    let keyed = if text.starts_with(['[', '{', '|', '>']) { None } else { colon(text) };
    match keyed {
        Some(at) => {
            let (key, value) = text.split_at(at);
            (plain(key.trim()), scalar(value.get(1..).unwrap_or_default()))
        }
        None => (String::new(), scalar(text)),
    }
}

/// Where the colon of a key stands: outside of quotes, with a blank or nothing behind it, and with one plain word or a
/// quoted text before it.
fn colon(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if at == 0 => quote = Some(c),
            (None, ':') => {
                let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
                if next.is_none_or(char::is_whitespace) {
                    return Some(at);
                }
            }
            (None, ' ') => return None,
            _ => {}
        }
    }
    None
}

/// A scalar without its quotes, or without a comment behind it.
fn scalar(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            let inner = inner.rfind(quote).and_then(|end| inner.get(..end)).unwrap_or(inner);
            return if quote == '"' { inner.replace("\\\"", "\"") } else { inner.replace("''", "'") };
        }
    }
    text.find(" #").and_then(|at| text.get(..at)).unwrap_or(text).trim().to_owned()
}

fn dedent(lines: &mut [(u32, String)]) {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|(_, line)| !line.trim().is_empty()).map(|(_, line)| depth(line)).min();
    for (_, line) in lines.iter_mut() {
        *line = line.get(least.unwrap_or(0)..).unwrap_or_default().to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "jobs:\n  test:\n    steps:\n      - name: 'a: b'  # note\n        run: |\n          x\n            y\n\n      - run: echo \"a: b\"\n    needs: [a, b]\n";

    #[test]
    fn keys_items_and_blocks_are_read() {
        let all = entries(TEXT);
        let keys: Vec<(&str, &str)> = all.iter().map(|e| (e.key.as_str(), e.value.as_str())).collect();
        let expected = [
            ("jobs", ""),
            ("test", ""),
            ("steps", ""),
            ("name", "a: b"),
            ("run", ""),
            ("run", "echo \"a: b\""),
            ("needs", "[a, b]"),
        ];
        assert_eq!(keys, expected);
        let block = all.get(4).map(|entry| entry.block.clone()).unwrap_or_default();
        assert_eq!(block, [(6, "x".to_owned()), (7, "  y".to_owned()), (8, String::new())]);
    }

    #[test]
    fn what_belongs_together_is_found() {
        let all = entries(TEXT);
        assert_eq!(below(&all, 2).len(), 3);
        assert_eq!(item_around(&all, 4), 3..5);
        assert_eq!(item_around(&all, 5), 5..6);
    }

    #[test]
    fn plain_items_have_no_key() {
        let all = entries("script:\n- make: x\n- make check\n- 'a: b'\n");
        let seen: Vec<(bool, &str, &str)> =
            all.iter().map(|e| (e.item, e.key.as_str(), e.value.as_str())).collect();
        let items = [(true, "make", "x"), (true, "", "make check"), (true, "", "a: b")];
        assert_eq!(seen.get(1..), Some(&items[..]));
    }
}
