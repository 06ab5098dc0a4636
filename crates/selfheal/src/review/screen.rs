//! The terminal while a review has it. It is given back however the review ends: by its end, an error or a panic (when it
//! is dropped), or a signal, which ends it in order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::{DefaultTerminal, Frame};

use crate::command_error::CommandError;

/// How long a key is waited for before it is looked at the clock and for signals.
const LOOK: Duration = Duration::from_millis(200);
/// Signals that end a review: HUP, INT, TERM, QUIT.
const ENDING: [i32; 4] = [1, 2, 15, 3];

/// What happened.
pub(super) enum Happened {
    Key(KeyEvent),
    Resized,
    Nothing,
    /// It is to end.
    End,
}

/// The terminal.
pub(super) struct Screen {
    terminal: DefaultTerminal,
    ended: Arc<AtomicBool>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it cannot be set up; it is as before then.
    pub(super) fn open() -> Result<Self, CommandError> {
        let ended = Arc::new(AtomicBool::new(false));
        for signal in ENDING {
            signal_hook::flag::register(signal, Arc::clone(&ended)).map_err(|error| failed(&error))?;
        }
        // Its hook gives the terminal back before a panic is told.
        let terminal =
            ratatui::try_init().inspect_err(|_| ratatui::restore()).map_err(|error| failed(&error))?;
        Ok(Self { terminal, ended })
    }

    pub(super) fn draw(&mut self, with: impl FnOnce(&mut Frame<'_>)) -> Result<(), CommandError> {
        self.terminal.draw(with).map(|_| ()).map_err(|error| failed(&error))
    }

    /// Waits a moment for something to happen.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub(super) fn next(&self) -> Result<Happened, CommandError> {
        if self.ended.load(Ordering::Relaxed) {
            return Ok(Happened::End);
        }
        match event::poll(LOOK) {
            Ok(false) => return Ok(Happened::Nothing),
            Ok(true) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(Happened::Nothing),
            Err(error) => return Err(failed(&error)),
        }
        Ok(match event::read().map_err(|error| failed(&error))? {
            Event::Key(key) if key.kind != KeyEventKind::Release => Happened::Key(key),
            Event::Resize(..) => Happened::Resized,
            _ => Happened::Nothing,
        })
    }

    /// Gives the terminal back while something else has it, such as an editor.
    ///
    /// # Errors
    /// When it cannot be taken again.
    pub(super) fn aside<T>(&mut self, what: impl FnOnce() -> T) -> Result<T, CommandError> {
        ratatui::restore();
        let value = what();
        self.terminal = ratatui::try_init().map_err(|error| failed(&error))?;
        Ok(value)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn failed(error: &io::Error) -> CommandError {
    CommandError::new("failed to use the terminal").because(error)
}
