//! What was done, in words: one line a path, sorted, with sizes.

use std::fmt::Write;

use selfheal_core::effects::Change;
use selfheal_core::ports::BoxedRun;
use selfheal_exec::commit::Draft;

use super::rows::{Row, Rows};
use crate::context::Context;
use crate::drafts::short;
use crate::terminal::{Paint, clean};
use crate::texts::Texts;

/// So many paths are shown after a run; `--show` and JSON have all.
const MOST: usize = 200;

/// So many lines of one difference are shown.
const MOST_LINES: usize = 200;

/// Tells what a run did.
pub(super) fn run(context: &Context, rows: &Rows, run: &BoxedRun) -> String {
    let texts = context.texts();
    let (code, ms) = (run.run.ended.code(), run.run.duration_ms);
    let seconds = format!("{}.{}", ms / 1000, ms % 1000 / 100);
    let values = [("code", code.to_string()), ("seconds", seconds)];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut text = format!("selfheal: {}\n", texts.say("try-ran", &values));
    if let Some(why) = &run.inconclusive {
        let _ = writeln!(text, "selfheal: {}", texts.say("try-doubt", &[("why", &clean(why))]));
    } else if run.network_tries > 0 {
        let _ = writeln!(text, "selfheal: {}", texts.say("try-network", &[]));
    }
    text + &list(context, rows, MOST)
}

/// All paths, at most so many, and the sum.
pub(super) fn list(context: &Context, rows: &Rows, most: usize) -> String {
    let texts = context.texts();
    let paint = Paint::new(context.terminal.colour);
    let mut text = String::new();
    for row in rows.rows.iter().take(most) {
        text.push_str(&line_of(&texts, paint, rows, row));
    }
    if rows.rows.len() > most {
        let more = (rows.rows.len() - most).to_string();
        let _ = writeln!(text, "  {}", texts.say("try-more", &[("n", &more)]));
    }
    let count =
        |fits: fn(Change) -> bool| rows.rows.iter().filter(|row| fits(row.change)).count().to_string();
    let created = count(|change| matches!(change, Change::Created | Change::CreatedFolder));
    let deleted = count(|change| change == Change::Deleted);
    let changed = count(|change| matches!(change, Change::Changed | Change::Appended | Change::Attributes));
    let values = [("created", created), ("changed", changed), ("deleted", deleted)];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let id = if rows.rows.is_empty() && rows.left_out == 0 { "try-nothing" } else { "try-sum" };
    let _ = writeln!(text, "  {}", texts.say(id, &values));
    if rows.left_out > 0 {
        let _ = writeln!(text, "  {}", texts.say("try-left-out", &[("n", &rows.left_out.to_string())]));
    }
    text
}

fn line_of(texts: &Texts, paint: Paint, rows: &Rows, row: &Row) -> String {
    let (id, sign) = match row.change {
        Change::Created => ("try-created", '+'),
        Change::CreatedFolder => ("try-created-folder", '+'),
        Change::Changed => ("try-changed", '~'),
        Change::Appended => ("try-appended", '~'),
        Change::Attributes => ("try-attributes", '~'),
        Change::Deleted => ("try-deleted", '-'),
    };
    let head = format!("{sign} {} {}", texts.say(id, &[]), super::near(&rows.cwd, &row.path));
    let head = match sign {
        '+' => paint.green(&head),
        '-' => paint.red(&head),
        _ => paint.yellow(&head),
    };
    let remark = row.remark.map(|remark| texts.say(&format!("try-remark-{}", remark.word()), &[]));
    let mut text = format!("  {head}{}", sizes(row));
    if let Some(remark) = remark {
        let _ = write!(text, " ({remark})");
    }
    text.push('\n');
    for line in row.diff.iter().flat_map(|diff| diff.lines().skip(2).take(MOST_LINES)) {
        let _ = writeln!(text, "      {}", paint.diff_line(&clean(line)));
    }
    text
}

fn sizes(row: &Row) -> String {
    match (row.change, row.before, row.after) {
        (Change::CreatedFolder, ..) => String::new(),
        (Change::Changed | Change::Appended, Some(before), Some(after)) => {
            format!("  {} -> {}", size(before), size(after))
        }
        (Change::Created | Change::Changed, _, Some(after)) => format!("  {}", size(after)),
        (Change::Deleted, Some(before), _) => format!("  {}", size(before)),
        _ => String::new(),
    }
}

/// A size in the largest unit in which it is at least one.
pub(super) fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut rest = bytes;
    let mut shown = format!("{bytes} B");
    for unit in units {
        if rest < 1024 {
            break;
        }
        shown = format!("{}.{} {unit}", rest / 1024, rest % 1024 * 10 / 1024);
        rest /= 1024;
    }
    shown
}

/// A draft on one line.
pub(super) fn line(context: &Context, draft: &Draft) -> String {
    let texts = context.texts();
    let state = texts.say(&format!("try-state-{}", draft.state.word()), &[]);
    let when = crate::clock::local_time(selfheal_core::ids::Timestamp(draft.made));
    let values =
        [("id", short(&draft.id)), ("when", &when), ("state", &state), ("command", &clean(&draft.command))];
    texts.say("try-line", &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let shown = [0, 1023, 1024, 1536, 5 << 30, u64::MAX].map(size);
        assert_eq!(shown[..5], ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "5.0 GiB"]);
        assert!(shown[5].ends_with("TiB"));
    }
}
