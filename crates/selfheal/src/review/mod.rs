//! `selfheal review`: on a terminal, what waits for a decision, and the decision.
//!
//! Theory of operation: [`queue`] is the state and what each key does to it, without a terminal; [`keys`] makes keys of what a terminal sends; [`page`] turns an
//! incident into lines; [`draw`] puts both on the screen; [`screen`] owns the terminal and gives it back however this ends
//! (its end, a panic, a signal). Decisions go through the same functions as `selfheal approve` and `reject`; an edited
//! repair is judged and tried again by [`edit`] before it takes the old one's place, and is not applied by that.

mod colours;
mod draw;
mod edit;
mod keys;
mod page;
mod queue;
mod screen;

use std::time::{Duration, Instant};

use selfheal_core::ports::{IncidentFilter, Journal};
use selfheal_store::Store;

use self::queue::{Queue, Wish};
use self::screen::{Happened, Screen};
use crate::command_error::CommandError;
use crate::commands::approve::{approve, open};
use crate::commands::reject::reject;
use crate::context::Context;
use crate::exit_code;
use crate::texts::Texts;

/// The most incidents in the queue.
const MOST: usize = 2_000;
/// How often it is looked whether something new waits.
const LOOK: Duration = Duration::from_secs(5);

/// Shows what waits and takes decisions until the person leaves.
///
/// # Errors
/// When there is no terminal, or the store cannot be used.
pub fn run(context: &Context) -> Result<i32, CommandError> {
    let dumb = context.var("TERM").is_none_or(|term| term == "dumb");
    if !context.terminal.input || !context.terminal.output || dumb {
        return Err(CommandError::new("review needs a terminal")
            .hint("selfheal incidents --held lists what waits; selfheal show ID, approve ID, reject ID"));
    }
    let (store, texts) = (context.store()?, context.texts());
    let review = Review { context, store: &store, texts: &texts };
    let mut queue = Queue::new(review.waiting()?);
    let mut screen = Screen::open()?;
    review.take_decisions(&mut screen, &mut queue)?;
    drop(screen);
    Ok(exit_code::OK)
}

struct Review<'a> {
    context: &'a Context,
    store: &'a Store,
    texts: &'a Texts,
}

impl Review<'_> {
    fn waiting(&self) -> Result<Vec<queue::Item>, CommandError> {
        let filter = IncidentFilter { states: vec!["held"], most: MOST, ..IncidentFilter::default() };
        let incidents = self.store.incidents(&filter)?;
        Ok(incidents.into_iter().map(|incident| queue::Item::of(self.store, incident)).collect())
    }

    fn take_decisions(&self, screen: &mut Screen, queue: &mut Queue) -> Result<(), CommandError> {
        let colour = self.context.var("NO_COLOR").is_none();
        let mut looked = Instant::now();
        loop {
            if !screen.draw(|frame| draw::draw(frame, queue, self.texts, colour))? {
                return Ok(());
            }
            match screen.next()? {
                Happened::Key(key) => match queue.key(key, self.texts) {
                    Wish::Leave => return Ok(()),
                    wish => self.carry_out(wish, screen, queue)?,
                },
                Happened::Nothing => {}
                Happened::End => return Ok(()),
            }
            if looked.elapsed() > LOOK {
                queue.reload(self.waiting()?);
                looked = Instant::now();
            }
        }
    }

    fn carry_out(&self, wish: Wish, screen: &mut Screen, queue: &mut Queue) -> Result<(), CommandError> {
        match wish {
            Wish::Nothing | Wish::Leave => return Ok(()),
            Wish::Approve(ids) => {
                let one = |id: &str| {
                    approve(self.context, self.store, &open(self.context, self.store, id)?).map(|_| ())
                };
                queue.said = self.each(&ids, "review-approved", one);
            }
            Wish::Reject(ids, reason) => {
                let one = |id: &str| {
                    let incident = open(self.context, self.store, id)?;
                    reject(self.context, self.store, &incident, Some(&reason)).map(|_| ())
                };
                queue.said = self.each(&ids, "review-rejected", one);
            }
            Wish::Edit(id) => {
                let edited = screen.aside(|| edit::edit(self.context, self.store, self.texts, &id))?;
                queue.said = edited.unwrap_or_else(|error| error.one_line());
            }
        }
        queue.marked.clear();
        queue.reload(self.waiting()?);
        Ok(())
    }

    /// Does it with each; says how many it was, and the first that could not be.
    fn each(&self, ids: &[String], text: &str, one: impl Fn(&str) -> Result<(), CommandError>) -> String {
        let results: Vec<Result<(), CommandError>> = ids.iter().map(|id| one(id)).collect();
        let done = results.iter().filter(|result| result.is_ok()).count().to_string();
        let said = self.texts.say(text, &[("n", &done)]);
        let failed = results.into_iter().find_map(Result::err);
        failed.map_or(said.clone(), |error| format!("{said}; {}", error.one_line()))
    }
}
