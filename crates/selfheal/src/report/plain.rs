//! A report as text: for terminals, and as Markdown.

use super::gather::Week;
use super::sections::{Line, sections, title};
use crate::terminal::{Paint, clean};
use crate::texts::Texts;

/// Columns that labels of figures have.
const LABEL: usize = 44;

/// For a terminal.
#[must_use]
pub fn terminal(week: &Week, texts: &Texts, paint: Paint) -> String {
    let mut out = format!("{}\n", paint.bold(&clean(&title(week, texts))));
    for section in sections(week, texts) {
        out.push_str(&format!("\n{}\n", paint.bold(&section.title)));
        for line in &section.lines {
            out.push_str(&match line {
                Line::Figure(what, number) => format!("  {what}{}{number}\n", gap(what)),
                Line::Text(text) => format!("  {text}\n"),
                Line::Incident(id, command, rest) => format!("  {} {command}: {rest}\n", paint.dim(id)),
                Line::Command(command) => format!("    {command}\n"),
            });
        }
    }
    out
}

/// Blanks after a label; letters of other scripts take two columns.
fn gap(label: &str) -> String {
    let columns: usize = label.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    " ".repeat(LABEL.saturating_sub(columns).max(2))
}

/// As Markdown (CommonMark, with tables).
#[must_use]
pub fn markdown(week: &Week, texts: &Texts) -> String {
    let mut out = format!("# {}\n", escaped(&title(week, texts)));
    for section in sections(week, texts) {
        out.push_str(&format!("\n## {}\n\n", escaped(&section.title)));
        let mut in_table = false;
        for line in &section.lines {
            let is_figure = matches!(line, Line::Figure(..));
            if is_figure != in_table {
                out.push_str(if is_figure { "| | |\n|---|--:|\n" } else { "\n" });
                in_table = is_figure;
            }
            out.push_str(&match line {
                Line::Figure(what, number) => format!("| {} | {} |\n", escaped(what), escaped(number)),
                Line::Text(text) => format!("{}\n\n", escaped(text)),
                Line::Incident(id, command, rest) => {
                    format!("- {} {}: {}\n", escaped(id), escaped(command), escaped(rest))
                }
                Line::Command(command) => format!("\n    {}\n", clean(command)),
            });
        }
    }
    out
}

/// Text that means nothing in Markdown but itself.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        if "\\`*_{}[]<>()#+-.!|~&".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_cannot_be_made_to_say_more() {
        assert_eq!(escaped("[x](http://e) `a` <b>\n# |"), "\\[x\\]\\(http://e\\) \\`a\\` \\<b\\>\\# \\|");
    }
}
