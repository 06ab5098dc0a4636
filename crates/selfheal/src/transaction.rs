//! `run --transaction`: every run of the job is one in a box, and what it did to files is put in place only if it
//! succeeded. All or nothing: what cannot be had is refused, and the job does not run bare.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use selfheal_core::job::Job;
use selfheal_core::ports::{BoxedRun, Boxes, Clock, Executor, Order, PortError, Trouble};
use selfheal_core::run::{Ended, Run};
use selfheal_exec::BoxRunner;
use selfheal_store::Store;
use selfheal_syntax::shell::Script;

use crate::boxes;
use crate::cli::TransactionArg;
use crate::context::Context;
use crate::drafts;

/// Commands that send mail.
const MAILERS: [&str; 12] = [
    "mail",
    "mailx",
    "s-nail",
    "bsd-mailx",
    "sendmail",
    "mutt",
    "neomutt",
    "msmtp",
    "ssmtp",
    "swaks",
    "mpack",
    "exim",
];

/// Commands that run the one which stands behind them.
const WRAPPERS: [&str; 8] = ["sudo", "env", "nohup", "nice", "timeout", "xargs", "time", "command"];

/// Why a transaction was not had. Nothing was changed.
#[derive(Debug)]
pub enum Refusal {
    /// There is no box; nothing was run.
    NoBox(PortError),
    /// It must not be, or could not be put in place.
    Refused(String),
}

/// Whether the changes of a run are wanted.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// By how it ended.
    pub before: &'a dyn Fn(&Run) -> bool,
    /// By what is in place then; where it is not, it is taken back.
    pub after: &'a dyn Fn(&Run) -> bool,
}

/// Runs one job in transactions.
pub struct Transaction<'a> {
    context: &'a Context,
    store: &'a Store,
    boxes: BoxRunner,
    what: TransactionArg,
    job: &'a Job,
    wanted: Wanted<'a>,
    /// What was put in place, a sentence each.
    said: RefCell<Vec<String>>,
}

impl<'a> Transaction<'a> {
    /// Prepares one.
    pub fn new(
        context: &'a Context,
        store: &'a Store,
        what: TransactionArg,
        job: &'a Job,
        wanted: Wanted<'a>,
    ) -> Self {
        let (boxes, said) = (boxes::runner(context), RefCell::default());
        Self { context, store, boxes, what, job, wanted, said }
    }

    /// What was put in place, a sentence each.
    pub fn take_said(&self) -> Vec<String> {
        self.said.take()
    }

    /// Runs the job once. A run that failed changed nothing.
    ///
    /// # Errors
    /// When there is no box, the job did what cannot be taken back, or a file was changed meanwhile.
    pub fn attempt(&self, order: &Order) -> Result<Run, Refusal> {
        self.refuse_mail()?;
        let id = self.context.clock.fresh_id();
        let boxed = self
            .boxes
            .run(&drafts::live_order(self.context, self.job.script.clone(), order, &id))
            .map_err(Refusal::NoBox)?;
        let judged = self.judge(&boxed);
        let good = judged.is_ok() && (self.wanted.before)(&boxed.run);
        let ended =
            if good { self.commit(&id, &boxed.run) } else { self.forget(&id, boxed.no_draft.is_none()) };
        judged?;
        ended?;
        Ok(Run { id: order.id.clone(), ..boxed.run })
    }

    /// What a job does besides files cannot be taken back, and what a box is the reason for is no failure of the job.
    fn judge(&self, boxed: &BoxedRun) -> Result<(), Refusal> {
        let texts = self.context.texts();
        if self.what == TransactionArg::Whole && boxed.network_tries > 0 {
            return Err(Refusal::Refused(texts.say("transaction-network", &[])));
        }
        let why = boxed.no_draft.as_ref().or(boxed.inconclusive.as_ref());
        let late = matches!(boxed.run.ended, Ended::TimedOut { .. });
        match why.filter(|_| !late) {
            Some(why) => Err(Refusal::Refused(texts.say("transaction-doubt", &[("why", why)]))),
            None => Ok(()),
        }
    }

    /// Mail needs no network: a program of this machine takes it.
    fn refuse_mail(&self) -> Result<(), Refusal> {
        if self.what == TransactionArg::FilesOnly {
            return Ok(());
        }
        match mailer(&self.job.argv, self.job.script.as_deref()) {
            Some(command) => {
                Err(Refusal::Refused(self.context.texts().say("transaction-mail", &[("command", &command)])))
            }
            None => Ok(()),
        }
    }

    fn commit(&self, id: &str, run: &Run) -> Result<(), Refusal> {
        match drafts::commit(self.context, self.store, id, None) {
            Ok(_) if !(self.wanted.after)(run) => match drafts::undo(self.context, self.store, id) {
                Ok(_) => Ok(()),
                Err(error) => {
                    Err(Refusal::Refused(crate::command_error::CommandError::from(error).one_line()))
                }
            },
            Ok(paths) => {
                let (paths, short) = (paths.to_string(), drafts::short(id));
                let values = [("n", paths.as_str()), ("id", short)];
                self.said.borrow_mut().push(self.context.texts().say("transaction-committed", &values));
                Ok(())
            }
            Err(error) => {
                let _ = self.forget(id, true);
                Err(Refusal::Refused(crate::command_error::CommandError::from(error).one_line()))
            }
        }
    }

    fn forget(&self, id: &str, there: bool) -> Result<(), Refusal> {
        if there && let Err(error) = drafts::all(self.context).throw_away(id) {
            crate::commands::tell(&format!("selfheal: {}", drafts::error_of(error).one_line()));
        }
        Ok(())
    }
}

impl Executor for Transaction<'_> {
    fn run(&self, order: &Order) -> Result<Run, PortError> {
        self.attempt(order).map_err(|refusal| match refusal {
            Refusal::NoBox(error) => error,
            Refusal::Refused(why) => {
                PortError::plain(format!("run the job as a transaction: {why}"), Trouble::Other)
            }
        })
    }
}

/// The command of a job that sends mail, where its words or its shell script name one.
fn mailer(argv: &[OsString], script: Option<&Path>) -> Option<String> {
    let words: Vec<String> = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(found) = in_words(&words) {
        return Some(found);
    }
    let inline = argv.iter().skip_while(|word| *word != OsStr::new("-c")).nth(1);
    let text = inline
        .map(|text| text.to_string_lossy().into_owned())
        .or_else(|| crate::driver::text_of(script).filter(|text| is_shell(&words, text)))?;
    let script = Script::parse(&text).ok()?;
    script.commands().iter().find_map(|command| {
        let words: Vec<String> =
            command.words.iter().map(|word| word.literal().unwrap_or_default()).collect();
        in_words(&words)
    })
}

fn in_words(words: &[String]) -> Option<String> {
    let base = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut names = words.iter().map(base);
    let first = names.next()?;
    if MAILERS.contains(&first.as_str()) {
        return Some(first);
    }
    WRAPPERS.contains(&first.as_str()).then(|| names.find(|name| MAILERS.contains(&name.as_str()))).flatten()
}

fn is_shell(words: &[String], text: &str) -> bool {
    let shells = |word: &str| word.ends_with("sh");
    words.first().is_some_and(|word| shells(word))
        || text
            .lines()
            .next()
            .is_some_and(|line| line.starts_with("#!") && line.split(['/', ' ']).any(shells))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(words: &[&str]) -> Option<String> {
        mailer(&words.iter().map(OsString::from).collect::<Vec<_>>(), None)
    }

    #[test]
    fn mail_is_seen_where_it_is_a_command_and_nowhere_else() {
        assert_eq!(named(&["/usr/sbin/sendmail", "-t"]).as_deref(), Some("sendmail"));
        assert_eq!(named(&["bash", "-c", "set -e\nreport | mail -s x root"]).as_deref(), Some("mail"));
        assert_eq!(named(&["bash", "-c", "sudo mailx -s x root <f"]).as_deref(), Some("mailx"));
        assert_eq!(named(&["bash", "-c", "cp mail old # mail it\ngrep mail f"]), None);
        assert_eq!(named(&["grep", "mail", "f"]), None);
    }
}
