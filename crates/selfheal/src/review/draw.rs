//! The screen: the queue above, the page of one incident below, the keys at the bottom.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line as Row, Span, Text};
use ratatui::widgets::{Clear, Paragraph};
use selfheal_core::failpoint;

use super::page::{Line, Tone, page};
use super::queue::{Item, Mode, Queue};
use crate::clock::local_time;
use crate::terminal::clean;
use crate::texts::Texts;

/// Rows of the queue at most.
const MOST_ROWS: usize = 6;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, queue: &mut Queue, texts: &Texts, colour: bool) {
    failpoint::hit("review.draw");
    let brush = Brush { colour };
    let rows = if queue.whole { 0 } else { queue.items.len().min(MOST_ROWS) };
    let parts = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(u16::try_from(rows).unwrap_or(0)),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .split(frame.area());
    let [title, list, rule, body, said, keys] = parts.as_ref() else { return };
    brush.title(frame, *title, queue, texts);
    brush.list(frame, *list, queue, texts);
    let line = "─".repeat(usize::from(rule.width));
    frame.render_widget(Paragraph::new(Span::styled(line, brush.style(Tone::Dim))), *rule);
    match queue.mode {
        Mode::Help => brush.help(frame, *body, texts),
        _ => brush.page(frame, *body, queue, texts),
    }
    brush.bottom(frame, (*said, *keys), queue, texts);
}

struct Brush {
    colour: bool,
}

impl Brush {
    fn style(&self, tone: Tone) -> Style {
        let plain = Style::default();
        let (colour, modifier) = match tone {
            Tone::Plain => (None, Modifier::empty()),
            Tone::Bold => (None, Modifier::BOLD),
            Tone::Dim => (None, Modifier::DIM),
            Tone::Good | Tone::Added => (Some(Color::Green), Modifier::empty()),
            Tone::AddedBold => (Some(Color::Green), Modifier::BOLD),
            Tone::AddedText => (Some(Color::LightGreen), Modifier::empty()),
            Tone::Bad | Tone::Removed => (Some(Color::Red), Modifier::empty()),
            Tone::RemovedBold => (Some(Color::Red), Modifier::BOLD),
            Tone::RemovedText => (Some(Color::LightRed), Modifier::empty()),
            Tone::Doubt => (Some(Color::Yellow), Modifier::empty()),
            Tone::Text => (Some(Color::Cyan), Modifier::empty()),
            Tone::Number => (Some(Color::Magenta), Modifier::empty()),
        };
        let style = plain.add_modifier(modifier);
        colour.filter(|_| self.colour).map_or(style, |colour| style.fg(colour))
    }

    fn title(&self, frame: &mut Frame<'_>, at: Rect, queue: &Queue, texts: &Texts) {
        let (n, marked) = (queue.items.len().to_string(), queue.marked.len().to_string());
        let mut text = texts.say("review-title", &[("n", &n)]);
        if !queue.marked.is_empty() {
            text.push_str(&texts.say("review-marked", &[("n", &marked)]));
        }
        let style = Style::default().add_modifier(Modifier::REVERSED | Modifier::BOLD);
        let wide = format!(" {text:<width$}", width = usize::from(at.width));
        frame.render_widget(Paragraph::new(Span::styled(wide, style)), at);
    }

    fn list(&self, frame: &mut Frame<'_>, at: Rect, queue: &Queue, texts: &Texts) {
        let height = usize::from(at.height);
        let first = queue.at.saturating_sub(height.saturating_sub(1));
        let rows: Vec<Row<'_>> = queue
            .items
            .iter()
            .enumerate()
            .skip(first)
            .take(height)
            .map(|(number, item)| self.row(queue, number, item, texts))
            .collect();
        frame.render_widget(Paragraph::new(Text::from(rows)), at);
    }

    fn row<'a>(&self, queue: &Queue, number: usize, item: &Item, texts: &Texts) -> Row<'a> {
        let incident = &item.incident;
        let here = if number == queue.at { ">" } else { " " };
        let mark = if queue.marked.contains(incident.id.as_str()) { "*" } else { " " };
        let risk = incident.rounds.last().and_then(|round| round.risk);
        let risk = risk.map(|risk| texts.say(&format!("risk-{}", risk.word()), &[])).unwrap_or_default();
        let error = incident.note.as_ref().map(|note| note.as_str()).unwrap_or_default();
        let when = local_time(incident.opened);
        let text = format!(
            "{here}{mark} {} {} {risk:<7}{}  {}",
            incident.id.short(),
            when.get(5..).unwrap_or_default(),
            clean(incident.command.as_str()),
            clean(error.lines().next().unwrap_or_default())
        );
        let style = match (number == queue.at, item.changed) {
            (true, _) => Style::default().add_modifier(Modifier::BOLD),
            (false, true) => self.style(Tone::Dim),
            (false, false) => Style::default(),
        };
        Row::from(Span::styled(text, style))
    }

    fn page(&self, frame: &mut Frame<'_>, at: Rect, queue: &mut Queue, texts: &Texts) {
        let of = queue.page_of(usize::from(at.width));
        if queue.page.as_ref().is_none_or(|(known, _)| *known != of) {
            let lines = match queue.current() {
                Some(item) => page(item, texts),
                None => vec![Line::toned(Tone::Plain, &texts.say("review-none", &[]))],
            };
            let folded = lines.into_iter().flat_map(|line| folded(line, of.1)).collect();
            queue.page = Some((of, folded));
        }
        let lines = queue.page.as_ref().map(|(_, lines)| lines.as_slice()).unwrap_or_default();
        queue.lines = lines.len();
        queue.fits = usize::from(at.height);
        queue.scroll = queue.scroll.min(queue.lines.saturating_sub(queue.fits));
        let rows: Vec<Row<'_>> = lines
            .iter()
            .skip(queue.scroll)
            .take(queue.fits)
            .map(|line| {
                let span = |(tone, text): &(Tone, String)| Span::styled(text.clone(), self.style(*tone));
                Row::from(line.pieces.iter().map(span).collect::<Vec<_>>())
            })
            .collect();
        frame.render_widget(Paragraph::new(Text::from(rows)), at);
    }

    fn help(&self, frame: &mut Frame<'_>, at: Rect, texts: &Texts) {
        let rows: Vec<Row<'_>> =
            (1..=8).map(|n| Row::from(texts.say(&format!("review-help-{n}"), &[]))).collect();
        frame.render_widget(Clear, at);
        frame.render_widget(Paragraph::new(Text::from(rows)), at);
    }

    fn bottom(&self, frame: &mut Frame<'_>, (said, keys): (Rect, Rect), queue: &Queue, texts: &Texts) {
        let n = queue.chosen().len().to_string();
        let (text, tone) = match &queue.mode {
            Mode::Confirm => (texts.say("review-confirm", &[("n", &n)]), Tone::Bold),
            Mode::Reason(reason) => {
                let room = usize::from(said.width).saturating_sub(30);
                let tail: String = reason.chars().skip(reason.chars().count().saturating_sub(room)).collect();
                (format!("{} {}_", texts.say("review-reason", &[("n", &n)]), clean(&tail)), Tone::Bold)
            }
            _ => (clean(&queue.said), Tone::Doubt),
        };
        frame.render_widget(Paragraph::new(Span::styled(text, self.style(tone))), said);
        let mut below = texts.say("review-keys", &[]);
        if queue.lines > queue.fits {
            let last = (queue.scroll + queue.fits).min(queue.lines);
            below = format!("{last}/{} {below}", queue.lines);
        }
        frame.render_widget(Paragraph::new(Span::styled(below, self.style(Tone::Dim))), keys);
    }
}

/// A line in as many rows as it needs, with the rest of it set in.
fn folded(line: Line, width: usize) -> Vec<Line> {
    let columns = |c: char| if c.is_ascii() { 1 } else { Span::raw(c.to_string()).width() };
    let mut rows = Vec::new();
    let mut row = Line { pieces: Vec::new(), indent: line.indent };
    let mut used = 0;
    for (tone, text) in &line.pieces {
        let mut piece = String::new();
        for c in text.chars() {
            let wide = columns(c);
            if used + wide > width && used > line.indent {
                row.push(*tone, &std::mem::take(&mut piece));
                rows.push(std::mem::take(&mut row));
                row.push(Tone::Plain, &" ".repeat(line.indent));
                used = line.indent;
            }
            piece.push(c);
            used += wide;
        }
        row.push(*tone, &piece);
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_folded_and_loses_nothing() {
        let mut line = Line::toned(Tone::Bold, "label    ");
        line.push(Tone::Plain, &"文b".repeat(40));
        line.indent = 9;
        let rows = folded(line.clone(), 30);
        assert!(rows.len() > 3);
        assert!(rows.iter().all(|row| Span::raw(row.text()).width() <= 30));
        let whole: String = rows.iter().map(|row| row.text().replace(' ', "")).collect();
        assert_eq!(whole, line.text().replace(' ', ""));
        for narrow in [0, 1, 5, 10] {
            assert!(!folded(line.clone(), narrow).is_empty());
        }
    }
}
