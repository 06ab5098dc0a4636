//! The terminal while a review has it. It is given back however the review ends: by its end, an error or a panic (when it
//! is dropped), a signal, or because the terminal is gone.

use std::io::{self, IsTerminal};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::KeyEvent;
use ratatui::crossterm::execute;
use ratatui::{DefaultTerminal, Frame};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::keys::Keys;
use crate::command_error::CommandError;

/// How long a key is waited for before the clock, signals and the size are looked at.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// Signals that end a review: HUP, INT, TERM, QUIT.
const ENDING: [i32; 4] = [1, 2, 15, 3];

/// What happened.
pub(super) enum Happened {
    Key(KeyEvent),
    /// Nothing that is a key: it is drawn again, for the size that the terminal has then.
    Nothing,
    /// It is to end.
    End,
}

/// The terminal.
pub(super) struct Screen {
    /// Never dropped: it would complain to a terminal that may be gone, and a complaint that cannot be written is a panic.
    terminal: ManuallyDrop<DefaultTerminal>,
    keys: Keys,
    /// A signal came.
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
        Ok(Self { terminal: take()?, keys: Keys::default(), ended })
    }

    /// Draws; whether there is still a terminal to draw on.
    ///
    /// # Errors
    /// When it cannot be written to although it is there.
    pub(super) fn draw(&mut self, with: impl FnOnce(&mut Frame<'_>)) -> Result<bool, CommandError> {
        match self.terminal.draw(with) {
            Ok(_) => Ok(true),
            Err(_) if !io::stdin().is_terminal() || !io::stdout().is_terminal() => Ok(false),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Waits a moment for something to happen.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub(super) fn next(&mut self) -> Result<Happened, CommandError> {
        if self.ended.load(Ordering::Relaxed) {
            return Ok(Happened::End);
        }
        if let Some(key) = self.keys.next(false) {
            return Ok(Happened::Key(key));
        }
        let stdin = io::stdin();
        let mut look = [PollFd::new(&stdin, PollFlags::IN)];
        let quiet = match rustix::event::poll(&mut look, Some(&LOOK)) {
            Err(Errno::INTR) => return Ok(Happened::Nothing),
            Err(error) => return Err(failed(&error.into())),
            Ok(ready) => ready == 0,
        };
        if !quiet && !self.read(&stdin)? {
            return Ok(Happened::End);
        }
        Ok(self.keys.next(quiet).map_or(Happened::Nothing, Happened::Key))
    }

    /// Takes what was typed; whether there is still a terminal that it comes from.
    fn read(&mut self, stdin: &io::Stdin) -> Result<bool, CommandError> {
        let mut bytes = [0; 1_024];
        match rustix::io::read(stdin, &mut bytes) {
            Ok(0) | Err(Errno::IO) => Ok(false),
            Ok(count) => {
                self.keys.take(bytes.get(..count).unwrap_or_default());
                Ok(true)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(true),
            Err(error) => Err(failed(&error.into())),
        }
    }

    /// Gives the terminal back while something else has it, such as an editor.
    ///
    /// # Errors
    /// When it cannot be taken again.
    pub(super) fn aside<T>(&mut self, what: impl FnOnce() -> T) -> Result<T, CommandError> {
        give_back();
        let value = what();
        self.terminal = take()?;
        Ok(value)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> Result<ManuallyDrop<DefaultTerminal>, CommandError> {
    // Its hook gives the terminal back before a panic is told.
    ratatui::try_init().inspect_err(|_| give_back()).map(ManuallyDrop::new).map_err(|error| failed(&error))
}

/// As far as it is still there.
fn give_back() {
    let _ = ratatui::try_restore();
    let _ = execute!(io::stdout(), Show);
}

fn failed(error: &io::Error) -> CommandError {
    CommandError::new("failed to use the terminal").because(error)
}
