//! The stream that probes write: records that begin with a mark and are made of fields. Pure.
//!
//! A record begins with one or more `U+001E`, the run's token and `U+001F`; its fields are separated by `U+001F`. The
//! job could write to the stream too, so nothing in it is trusted: what does not fit is left out.

/// Separates records.
const MARK: char = '\u{1e}';

/// Separates fields.
const FIELD: char = '\u{1f}';

/// One record: its kind and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub kind: &'a str,
    pub fields: Vec<&'a str>,
}

impl<'a> Record<'a> {
    /// A field as text; empty when there are fewer.
    pub(crate) fn text(&self, at: usize) -> &'a str {
        self.fields.get(at).copied().unwrap_or_default()
    }

    /// A field as a number.
    pub(crate) fn number(&self, at: usize) -> Option<i64> {
        self.text(at).trim().parse().ok()
    }
}

/// Splits a stream into records. The last field of each has no line end.
pub(crate) fn records<'a>(text: &'a str, token: &'a str) -> impl Iterator<Item = Record<'a>> {
    text.split(MARK).filter_map(move |piece| {
        let body = piece.strip_prefix(token)?.strip_prefix(FIELD)?;
        let body = body.strip_suffix('\n').unwrap_or(body);
        let mut fields = body.splitn(12, FIELD);
        Some(Record { kind: fields.next()?, fields: fields.collect() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_records_and_leaves_out_the_rest() {
        let text = "junk\u{1e}\u{1e}T1\u{1f}B\u{1f}0\u{1f}a\nb\n\u{1e}T2\u{1f}B\n\u{1e}T1\u{1f}X\n";
        let all: Vec<_> = records(text, "T1").collect();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].kind, all[0].number(0), all[0].text(1)), ("B", Some(0), "a\nb"));
        assert_eq!((all[1].kind, all[1].text(5)), ("X", ""));
    }
}
