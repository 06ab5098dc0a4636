//! The terminal while a review has it. It is given back however the review ends: by its end, an error or a panic (when it
//! is dropped), a signal, or because the terminal is gone.
//!
//! Reading keys may block where it cannot be woken: in the middle of a sequence of bytes, or for ever on a terminal that is
//! gone. So a second thread looks after that: it ends the process when it was told to end and still only reads.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::crossterm::execute;
use ratatui::{DefaultTerminal, Frame};

use crate::command_error::CommandError;
use crate::exit_code;

/// How long a key is waited for before the clock and signals are looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Looks after which a read that does not end is not waited for any more.
const PATIENCE: u32 = 10;
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

/// What both threads know.
#[derive(Default)]
struct State {
    /// A signal came, or the terminal is gone.
    ended: Arc<AtomicBool>,
    /// Nothing is done but waiting for a key.
    reading: AtomicBool,
    /// The terminal was given back for good.
    closed: AtomicBool,
}

/// The terminal.
pub(super) struct Screen {
    terminal: DefaultTerminal,
    state: Arc<State>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it cannot be set up; it is as before then.
    pub(super) fn open() -> Result<Self, CommandError> {
        let state = Arc::new(State::default());
        for signal in ENDING {
            signal_hook::flag::register(signal, Arc::clone(&state.ended)).map_err(|error| failed(&error))?;
        }
        // Its hook gives the terminal back before a panic is told.
        let terminal =
            ratatui::try_init().inspect_err(|_| ratatui::restore()).map_err(|error| failed(&error))?;
        let watched = Arc::clone(&state);
        std::thread::spawn(move || watch(&watched));
        Ok(Self { terminal, state })
    }

    pub(super) fn draw(&mut self, with: impl FnOnce(&mut Frame<'_>)) -> Result<(), CommandError> {
        self.terminal.draw(with).map(|_| ()).map_err(|error| failed(&error))
    }

    /// Waits a moment for something to happen.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub(super) fn next(&self) -> Result<Happened, CommandError> {
        if self.state.ended.load(Ordering::Relaxed) {
            return Ok(Happened::End);
        }
        self.state.reading.store(true, Ordering::Release);
        let happened = read();
        self.state.reading.store(false, Ordering::Release);
        happened.map_err(|error| failed(&error))
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
        self.state.closed.store(true, Ordering::Release);
        ratatui::restore();
    }
}

fn read() -> io::Result<Happened> {
    match event::poll(LOOK) {
        Ok(false) => return Ok(Happened::Nothing),
        Ok(true) => {}
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(Happened::Nothing),
        Err(error) => return Err(error),
    }
    Ok(match event::read()? {
        Event::Key(key) if key.kind != KeyEventKind::Release => Happened::Key(key),
        Event::Resize(..) => Happened::Resized,
        _ => Happened::Nothing,
    })
}

/// Notices that the terminal is gone, and ends the process where a read keeps it from ending.
#[expect(clippy::exit, reason = "the other thread hangs in a read that nothing can wake")]
fn watch(state: &State) {
    let mut looks = 0;
    while !state.closed.load(Ordering::Acquire) {
        std::thread::sleep(LOOK);
        if !io::stdin().is_terminal() {
            state.ended.store(true, Ordering::Relaxed);
        }
        let stuck = state.ended.load(Ordering::Relaxed) && state.reading.load(Ordering::Acquire);
        looks = if stuck { looks + 1 } else { 0 };
        if looks > PATIENCE {
            ratatui::restore();
            // Dropping the terminal would do it, which the other thread has.
            let _ = execute!(io::stdout(), Show);
            std::process::exit(exit_code::OK);
        }
    }
}

fn failed(error: &io::Error) -> CommandError {
    CommandError::new("failed to use the terminal").because(error)
}
