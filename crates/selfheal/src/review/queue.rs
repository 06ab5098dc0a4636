//! The state of a review, and what each key does to it. No terminal in here.

use std::collections::BTreeSet;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::incident::Incident;
use selfheal_core::ports::{Snapshots, Standing};
use selfheal_store::Store;

use super::page::Line;
use crate::texts::Texts;

/// The longest reason, in characters.
const LONGEST_REASON: usize = 500;

/// An incident in the queue.
pub(super) struct Item {
    pub(super) incident: Incident,
    /// Whether a file of the repair is not what it was: then it cannot be applied.
    pub(super) changed: bool,
}

impl Item {
    pub(super) fn of(store: &Store, incident: Incident) -> Self {
        let files = incident.rounds.last().map(|round| round.files.as_slice()).unwrap_or_default();
        let changed = files.iter().any(|file| !matches!(store.state_of(file), Ok(Standing::Before)));
        Self { incident, changed }
    }
}

/// What the keys are for at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Going through the queue and the page.
    Browse,
    /// Typing the reason for rejecting.
    Reason(String),
    /// Answering whether to apply.
    Confirm,
    /// Reading what the keys do.
    Help,
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    Leave,
    Approve(Vec<String>),
    Reject(Vec<String>, String),
    Edit(String),
}

/// What a page shows: whose it is, when that was stored last, whether a file of it was changed since, and for how many columns
/// it was folded.
pub(super) type PageOf = (Option<(IncidentId, Timestamp, bool)>, usize);

/// The state of a review.
pub(super) struct Queue {
    pub(super) items: Vec<Item>,
    /// Which one is looked at.
    pub(super) at: usize,
    /// The identities of those that the next decision is on.
    pub(super) marked: BTreeSet<String>,
    /// The first line of the page that is shown.
    pub(super) scroll: usize,
    /// How many lines of the page fit, and how many there are; the last drawing knows.
    pub(super) fits: usize,
    pub(super) lines: usize,
    /// The page as it was drawn last: making it can take long, and every key draws again.
    pub(super) page: Option<(PageOf, Vec<Line>)>,
    /// Whether the page has the whole screen.
    pub(super) whole: bool,
    pub(super) mode: Mode,
    /// What was done last.
    pub(super) said: String,
}

impl Queue {
    pub(super) fn new(items: Vec<Item>) -> Self {
        Self {
            items,
            at: 0,
            marked: BTreeSet::new(),
            scroll: 0,
            fits: 0,
            lines: 0,
            page: None,
            whole: false,
            mode: Mode::Browse,
            said: String::new(),
        }
    }

    /// What a page of so many columns would show now.
    pub(super) fn page_of(&self, width: usize) -> PageOf {
        let item = self.current();
        (item.map(|item| (item.incident.id.clone(), item.incident.updated, item.changed)), width)
    }

    pub(super) fn current(&self) -> Option<&Item> {
        self.items.get(self.at)
    }

    /// Takes what waits now; the one that is looked at stays, as far as it is still there.
    pub(super) fn reload(&mut self, items: Vec<Item>) {
        let id = self.current().map(|item| item.incident.id.clone());
        self.items = items;
        let there = self.items.iter().position(|item| Some(&item.incident.id) == id.as_ref());
        if there.is_none() {
            self.scroll = 0;
        }
        self.at = there.unwrap_or(self.at).min(self.items.len().saturating_sub(1));
        let items = &self.items;
        self.marked.retain(|id| items.iter().any(|item| item.incident.id.as_str() == id));
    }

    /// The identities that a decision is on: those that are marked, else the one that is looked at.
    pub(super) fn chosen(&self) -> Vec<String> {
        let ids = self.items.iter().map(|item| item.incident.id.as_str().to_owned());
        if self.marked.is_empty() {
            return ids.skip(self.at).take(1).collect();
        }
        ids.filter(|id| self.marked.contains(id)).collect()
    }

    pub(super) fn key(&mut self, key: KeyEvent, texts: &Texts) -> Wish {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            let leave = matches!(key.code, KeyCode::Char('c' | 'd'));
            return if leave { Wish::Leave } else { Wish::Nothing };
        }
        match std::mem::replace(&mut self.mode, Mode::Browse) {
            Mode::Browse => self.browse(key.code, texts),
            Mode::Help => Wish::Nothing,
            Mode::Confirm => match key.code {
                KeyCode::Char('y' | 'Y' | 'j' | 'J') => Wish::Approve(self.chosen()),
                _ => Wish::Nothing,
            },
            Mode::Reason(reason) => self.reason(key.code, reason),
        }
    }

    fn reason(&mut self, key: KeyCode, mut reason: String) -> Wish {
        match key {
            KeyCode::Esc => return Wish::Nothing,
            KeyCode::Enter => return Wish::Reject(self.chosen(), reason),
            KeyCode::Backspace => drop(reason.pop()),
            KeyCode::Char(c) if !c.is_control() && reason.chars().count() < LONGEST_REASON => reason.push(c),
            _ => {}
        }
        self.mode = Mode::Reason(reason);
        Wish::Nothing
    }

    fn browse(&mut self, key: KeyCode, texts: &Texts) -> Wish {
        self.said.clear();
        let page = self.fits.saturating_sub(1).max(1);
        match key {
            KeyCode::Char('q') => return Wish::Leave,
            KeyCode::Esc if self.whole => self.whole = false,
            KeyCode::Esc => return Wish::Leave,
            KeyCode::Down | KeyCode::Char('j') if self.whole => self.scroll_to(self.scroll + 1),
            KeyCode::Up | KeyCode::Char('k') if self.whole => self.scroll_to(self.scroll.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.go(self.at + 1),
            KeyCode::Up | KeyCode::Char('k') => self.go(self.at.saturating_sub(1)),
            KeyCode::Char('n') => self.go(self.at + 1),
            KeyCode::Char('p') => self.go(self.at.saturating_sub(1)),
            KeyCode::PageDown => self.scroll_to(self.scroll + page),
            KeyCode::PageUp => self.scroll_to(self.scroll.saturating_sub(page)),
            KeyCode::Home => self.scroll_to(0),
            KeyCode::End => self.scroll_to(usize::MAX),
            KeyCode::Enter | KeyCode::Tab => self.whole = !self.whole,
            KeyCode::Char(' ') => self.mark(),
            KeyCode::Char('?' | 'h') => self.mode = Mode::Help,
            KeyCode::Char('a') => self.confirm(texts),
            KeyCode::Char('r') if self.current().is_some() => self.mode = Mode::Reason(String::new()),
            KeyCode::Char('e') => {
                return self
                    .current()
                    .map_or(Wish::Nothing, |item| Wish::Edit(item.incident.id.as_str().to_owned()));
            }
            _ => {}
        }
        Wish::Nothing
    }

    /// Asks before something is applied; what was changed meanwhile cannot be.
    fn confirm(&mut self, texts: &Texts) {
        let chosen = self.chosen();
        let changed = self
            .items
            .iter()
            .any(|item| item.changed && chosen.iter().any(|id| id == item.incident.id.as_str()));
        if changed {
            self.said = texts.say("review-changed", &[]);
        } else if !chosen.is_empty() {
            self.mode = Mode::Confirm;
        }
    }

    fn go(&mut self, to: usize) {
        self.at = to.min(self.items.len().saturating_sub(1));
        self.scroll = 0;
    }

    fn scroll_to(&mut self, to: usize) {
        self.scroll = to.min(self.lines.saturating_sub(self.fits));
    }

    /// Marks the one that is looked at, or takes its mark away, and goes on.
    fn mark(&mut self) {
        let Some(id) = self.current().map(|item| item.incident.id.as_str().to_owned()) else { return };
        if !self.marked.remove(&id) {
            self.marked.insert(id);
        }
        if !self.whole {
            self.go(self.at + 1);
        }
    }
}
