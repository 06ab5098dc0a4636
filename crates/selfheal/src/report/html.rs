//! A report as one HTML file: no scripts, nothing fetched, every text escaped, charts as SVG in the page. For a mail the
//! charts are cells of tables: many mail programs take SVG away.

use std::fmt::Write;

use super::gather::Week;
use super::sections::{Line, Section, sections, title};
use crate::terminal::clean;
use crate::texts::Texts;

/// Pixels of a chart.
const WIDTH: usize = 640;
const HEIGHT: usize = 160;

/// The look. The policy above it lets nothing else in, should a text ever get out of its place.
const HEAD: &str = "<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
<meta name=\"viewport\" content=\"width=device-width\">\n\
<style>body{font:15px/1.5 sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222}\
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse}\
td{padding:.15rem 1.5rem .15rem 0}td+td{text-align:right}code,pre{font:13px monospace;background:#f3f3f3;padding:.1rem .3rem}\
svg{max-width:100%}.healed{fill:#3a9d5d}.waits{fill:#d9a21b}.failed{fill:#c8453b}text{font:11px sans-serif;fill:#444}</style>\n";

/// The report as a whole file.
#[must_use]
pub fn html(week: &Week, texts: &Texts) -> String {
    document(week, texts, &(chart_of_days(week, texts) + &chart_of_tiers(week, texts)))
}

/// The report as the HTML part of a mail.
#[must_use]
pub fn html_mail(week: &Week, texts: &Texts) -> String {
    document(week, texts, &bars_of_days(week, texts))
}

fn document(week: &Week, texts: &Texts, charts: &str) -> String {
    let title = escaped(&title(week, texts));
    let mut out = format!(
        "<!DOCTYPE html>\n<html>\n<head>\n{HEAD}<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    out.push_str(charts);
    for part in sections(week, texts) {
        out.push_str(&section(&part));
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn section(part: &Section) -> String {
    let mut out = format!("<h2>{}</h2>\n", escaped(&part.title));
    let mut open = "";
    for line in &part.lines {
        let tag = match line {
            Line::Figure(..) => "table",
            Line::Incident(..) => "ul",
            Line::Text(_) | Line::Command(_) => "",
        };
        if tag != open {
            close(&mut out, open);
            if !tag.is_empty() {
                let _ = writeln!(out, "<{tag}>");
            }
            open = tag;
        }
        let _ = match line {
            Line::Figure(what, number) => {
                writeln!(out, "<tr><td>{}</td><td>{}</td></tr>", escaped(what), escaped(number))
            }
            Line::Incident(id, command, rest) => {
                writeln!(out, "<li>{} <code>{}</code> {}</li>", escaped(id), escaped(command), escaped(rest))
            }
            Line::Text(text) => writeln!(out, "<p>{}</p>", escaped(text)),
            Line::Command(command) => writeln!(out, "<pre>{}</pre>", escaped(command)),
        };
    }
    close(&mut out, open);
    out
}

fn close(out: &mut String, tag: &str) {
    if !tag.is_empty() {
        let _ = writeln!(out, "</{tag}>");
    }
}

/// Each day a bar: what was healed below, then what waits, then what was not healed.
fn chart_of_days(week: &Week, texts: &Texts) -> String {
    let most = week.days.iter().map(|(_, all)| all.iter().sum::<usize>()).max().unwrap_or(0).max(1);
    let step = WIDTH / week.days.len().max(1);
    let bar = (step * 2 / 3).max(1);
    let mut out = opened(WIDTH, HEIGHT + 40, &texts.say("report-chart-days", &[]));
    for (at, (day, counts)) in week.days.iter().enumerate() {
        let left = at * step;
        let mut bottom = HEIGHT;
        for (count, (class, ..)) in counts.iter().zip(PARTS) {
            let height = count * (HEIGHT - 16) / most;
            bottom -= height;
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{left}\" y=\"{bottom}\" width=\"{bar}\" height=\"{height}\"><title>{}: {count}</title></rect>",
                escaped(day)
            );
        }
        let total: usize = counts.iter().sum();
        if total > 0 {
            let _ = writeln!(out, "<text x=\"{left}\" y=\"{}\">{total}</text>", bottom.saturating_sub(4));
        }
        if step >= 40 || at % 7 == 0 {
            let label = day.get(5..).unwrap_or(day);
            let _ = writeln!(out, "<text x=\"{left}\" y=\"{}\">{}</text>", HEIGHT + 14, escaped(label));
        }
    }
    legend(&mut out, texts);
    out.push_str("</svg>\n");
    out
}

fn legend(out: &mut String, texts: &Texts) {
    for (at, (class, id, _)) in PARTS.iter().enumerate() {
        let left = at * 160;
        let top = HEIGHT + 24;
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"10\" height=\"10\"/><text x=\"{}\" y=\"{}\">{}</text>",
            left + 14,
            top + 9,
            escaped(&texts.say(id, &[]))
        );
    }
}

/// What the parts of a bar are: healed, waiting, not healed; each with its colour in a mail.
const PARTS: [(&str, &str, &str); 3] = [
    ("healed", "report-is-healed", "#3a9d5d"),
    ("waits", "report-is-waiting", "#d9a21b"),
    ("failed", "report-is-failed", "#c8453b"),
];

/// Each day a row of coloured cells.
fn bars_of_days(week: &Week, texts: &Texts) -> String {
    const WIDEST: usize = 400;
    let most = week.days.iter().map(|(_, all)| all.iter().sum::<usize>()).max().unwrap_or(0).max(1);
    let mut out = format!("<h2>{}</h2>\n<table>\n", escaped(&texts.say("report-chart-days", &[])));
    for (day, counts) in &week.days {
        let _ = write!(out, "<tr><td>{}</td><td><table cellspacing=\"0\"><tr>", escaped(day));
        for (count, (_, id, colour)) in counts.iter().zip(PARTS).filter(|(count, _)| **count > 0) {
            let (width, what) = ((count * WIDEST / most).max(12), escaped(&texts.say(id, &[])));
            let _ = write!(out, "<td bgcolor=\"{colour}\" width=\"{width}\" title=\"{what}\">{count}</td>");
        }
        out.push_str("<td></td></tr></table></td></tr>\n");
    }
    out.push_str("</table>\n<p>");
    for (_, id, colour) in PARTS {
        let what = escaped(&texts.say(id, &[]));
        let _ = write!(out, "<font color=\"{colour}\">&#9632;</font> {what} &nbsp; ");
    }
    out.push_str("</p>\n");
    out
}

/// Who healed, a bar each.
fn chart_of_tiers(week: &Week, texts: &Texts) -> String {
    let mut rows: Vec<(String, usize)> =
        week.tiers.iter().map(|(tier, count)| (texts.say(&format!("tier-{tier}"), &[]), *count)).collect();
    if week.retried > 0 {
        rows.push((texts.say("tier-retry", &[]), week.retried));
    }
    if rows.is_empty() {
        return String::new();
    }
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let mut out = opened(WIDTH, rows.len() * 22, &texts.say("report-chart-tiers", &[]));
    for (at, (name, count)) in rows.iter().enumerate() {
        let top = at * 22;
        let width = count * (WIDTH - 220) / most;
        let _ = writeln!(
            out,
            "<text x=\"0\" y=\"{}\">{}</text><rect class=\"healed\" x=\"160\" y=\"{}\" width=\"{width}\" height=\"14\"/><text x=\"{}\" y=\"{}\">{count}</text>",
            top + 14,
            escaped(name),
            top + 3,
            166 + width,
            top + 14
        );
    }
    out.push_str("</svg>\n");
    out
}

fn opened(width: usize, height: usize, title: &str) -> String {
    let title = escaped(title);
    format!(
        "<h2>{title}</h2>\n<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n"
    )
}

/// Text that means nothing in HTML but itself, in elements and in attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
