//! `selfheal try`: runs a command in a box, shows what it did to files, and keeps that or throws it away.

mod ask;
mod document;
mod pattern;
mod rows;
mod show;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use selfheal_core::ids::JobKey;
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::ports::{BoxLimits, BoxOrder, BoxedRun, Boxes, Clock, DraftOrder};
use selfheal_core::run::Ended as RunEnded;
use selfheal_core::scene::absolute;
use selfheal_exec::commit::{CommitError, Draft, Standing};

use super::{Ended, print, tell};
use crate::boxes;
use crate::cli::TryArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::drafts::{self, short};
use crate::exit_code;
use crate::terminal::{clean, shown_path};
use ask::Choice;
use document::TryDocument;
use rows::Rows;

/// Bytes kept of each end of each stream.
const KEEP: usize = 64 * 1024;

/// Runs a command in a box, or does what is asked with what an earlier one left.
///
/// # Errors
/// When there is no box (nothing is run then), or what it did could not be put in place.
pub fn run(context: &Context, args: &TryArgs) -> Ended {
    let attempt = Attempt { context, args };
    match (&args.commit, &args.drop, &args.show) {
        _ if args.list => attempt.list(),
        (_, Some(id), _) => attempt.throw_away(id),
        (_, _, Some(id)) => attempt.show_again(id),
        (Some(Some(id)), _, _) => attempt.commit_later(id),
        _ if args.command.is_empty() => Err(CommandError::usage("there is no command")
            .hint("selfheal try -- COMMAND [ARGUMENT …]; selfheal try --list shows what is kept")),
        _ => attempt.go(),
    }
}

struct Attempt<'a> {
    context: &'a Context,
    args: &'a TryArgs,
}

impl Attempt<'_> {
    /// Runs the command and decides.
    fn go(&self) -> Ended {
        if self.context.is_lost() {
            return Err(CommandError::new("the current folder was removed or cannot be reached"));
        }
        let id = self.context.clock.fresh_id();
        let run = boxes::runner(self.context).run(&self.order(&id)?).map_err(|error| CommandError {
            code: exit_code::NO_BOX,
            ..CommandError::from(error).hint("nothing was run; `selfheal doctor` tells what a box needs")
        })?;
        if let Some(text) = crate::not_started::told(self.context, &self.job(), &run.run.ended) {
            tell(&text);
        }
        let draft = if run.no_draft.is_none() && self.wants_draft() {
            Some(drafts::all(self.context).find(&id).map_err(drafts::error_of)?)
        } else {
            None
        };
        let rows = match &draft {
            Some(draft) => Rows::of_draft(self.context, draft),
            None => Rows::of_effects(self.context, &run.effects),
        };
        let mut rows = rows.only(&self.args.only);
        if let Some(draft) = draft.as_ref().filter(|_| self.args.diff) {
            rows.compare(self.context, draft);
        }
        tell(show::run(self.context, &rows, &run).trim_end());
        let mut document = TryDocument::of(self.context, self.args, &rows, &run);
        let code = match draft {
            Some(draft) => self.decide(&draft, &run, &mut document),
            None => self.without_draft(&run, &mut document),
        };
        document.write(self.args)?;
        code
    }

    /// Nothing was kept: nobody could want it, or it could not be.
    fn without_draft(&self, run: &BoxedRun, document: &mut TryDocument) -> Ended {
        if let Some(why) = run.no_draft.as_ref().filter(|_| self.args.commit.is_some() || self.args.keep) {
            document.end("refused", Some(why));
            tell(&format!("error: {why}; nothing was changed"));
            return Ok(exit_code::NOT_IN_PLACE);
        }
        document.end("thrown_away", None);
        self.say("try-thrown-away", &[]);
        Ok(run.run.ended.code())
    }

    /// What is done with it: what the command line says, else what the person at the terminal says, else nothing.
    fn decide(&self, draft: &Draft, run: &BoxedRun, document: &mut TryDocument) -> Ended {
        let code = run.run.ended.code();
        let choice = match (self.wants_commit(), self.args.keep) {
            (true, _) => self.may_commit(run).and_then(|()| self.chosen(draft)),
            (_, true) => Ok(Choice::Later),
            _ if draft.entries.is_empty() => Ok(Choice::ThrowAway),
            _ if self.can_ask() => Ok(ask::choice(self.context, draft)),
            _ => Ok(Choice::ThrowAway),
        };
        match choice {
            Ok(Choice::All) => self.commit(draft, None, document, code),
            Ok(Choice::Some(paths)) => self.commit(draft, Some(&paths), document, code),
            Ok(Choice::Later) => {
                document.kept(draft);
                self.say("try-kept", &[("id", short(&draft.id))]);
                Ok(code)
            }
            Ok(Choice::ThrowAway) => {
                self.forget(draft);
                document.end("thrown_away", None);
                self.say("try-thrown-away", &[]);
                Ok(code)
            }
            Err(why) => {
                self.forget(draft);
                document.end("refused", Some(&why));
                tell(&format!("selfheal: {why}"));
                Ok(if code == 0 { exit_code::NOT_IN_PLACE } else { code })
            }
        }
    }

    /// Unattended only what a command did that succeeded, all of which was seen, is put in place.
    fn may_commit(&self, run: &BoxedRun) -> Result<(), String> {
        let texts = self.context.texts();
        match (&run.run.ended, &run.inconclusive) {
            (RunEnded::Exited(0), None) => Ok(()),
            (_, Some(why)) => Err(texts.say("try-not-committed", &[("why", why)])),
            _ => Err(texts.say("try-not-committed-failed", &[])),
        }
    }

    fn chosen(&self, draft: &Draft) -> Result<Choice, String> {
        if self.args.commit_only.is_empty() {
            return Ok(Choice::All);
        }
        match ask::below(draft, &self.only_paths()) {
            paths if paths.is_empty() => Err(self.text("try-none-below", &[])),
            paths => Ok(Choice::Some(paths)),
        }
    }

    fn only_paths(&self) -> Vec<PathBuf> {
        self.args.commit_only.iter().map(|path| absolute(&self.context.cwd, path)).collect()
    }

    fn commit(
        &self,
        draft: &Draft,
        only: Option<&[PathBuf]>,
        document: &mut TryDocument,
        code: i32,
    ) -> Ended {
        let done = self.context.store().and_then(|store| {
            drafts::commit(self.context, &store, &draft.id, only).map_err(CommandError::from)
        });
        match done {
            Ok(paths) => {
                document.committed(draft);
                self.say("try-committed", &[("n", &paths.to_string()), ("id", short(&draft.id))]);
                Ok(code)
            }
            Err(error) => {
                // It stays, so that what the command made is not lost.
                document.end("refused", Some(&error.one_line()));
                document.kept_as(draft);
                tell(&error.hint(self.text("try-hint-kept", &[("id", short(&draft.id))])).to_string());
                Ok(exit_code::NOT_IN_PLACE)
            }
        }
    }

    fn forget(&self, draft: &Draft) {
        if let Err(error) = drafts::all(self.context).throw_away(&draft.id) {
            tell(&format!("selfheal: {}", drafts::error_of(error).one_line()));
        }
    }

    fn wants_commit(&self) -> bool {
        self.args.commit.is_some() || !self.args.commit_only.is_empty()
    }

    fn can_ask(&self) -> bool {
        self.context.terminal.input && self.context.terminal.error
    }

    fn wants_draft(&self) -> bool {
        self.wants_commit() || self.args.keep || self.args.diff || self.can_ask()
    }

    fn job(&self) -> Job {
        let path = self.context.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let (argv, cwd) = (self.args.command.clone(), self.context.cwd.clone());
        let script = selfheal_exec::resolve_script(&argv, &cwd, path);
        Job { key: JobKey::new("try"), argv, cwd, script, repeatable: Repeatable::Unstated }
    }

    fn order(&self, id: &str) -> Result<BoxOrder, CommandError> {
        let words = crate::driver_command_line(&self.args.command);
        let draft = self.wants_draft().then(|| DraftOrder {
            folder: drafts::all(self.context).folder(id),
            id: id.to_owned(),
            command: self.context.redactor().text(&words),
        });
        let job = self.job();
        let cap = self.context.settings.limits.cap_ms;
        let seconds = |seconds: u64| seconds.saturating_mul(1_000);
        Ok(BoxOrder {
            script: job.script,
            argv: job.argv,
            env: self.context.env.clone(),
            cwd: self.context.cwd.clone(),
            deadline_ms: self.args.deadline.map_or(cap, seconds),
            keep: KEEP,
            net: self.args.net,
            see: self.args.see.clone(),
            limits: limits(&self.args.limit)?,
            live: true,
            draft,
            ..BoxOrder::default()
        })
    }

    fn list(&self) -> Ended {
        let drafts = drafts::all(self.context).list().map_err(drafts::error_of)?;
        for draft in &drafts {
            print(&format!("{}\n", show::line(self.context, draft)));
        }
        if drafts.is_empty() {
            print(&format!("{}\n", self.text("try-none", &[])));
        }
        Ok(exit_code::OK)
    }

    fn throw_away(&self, id: &str) -> Ended {
        let gone = drafts::all(self.context).throw_away(id).map_err(drafts::error_of)?;
        print(&format!("{}\n", self.text("try-dropped", &[("id", short(&gone.id))])));
        Ok(exit_code::OK)
    }

    fn show_again(&self, id: &str) -> Ended {
        let draft = drafts::all(self.context).find(id).map_err(drafts::error_of)?;
        let mut rows = Rows::of_draft(self.context, &draft).only(&self.args.only);
        if self.args.diff && draft.state != Standing::Committed {
            rows.compare(self.context, &draft);
        }
        print(&format!(
            "{}\n{}",
            show::line(self.context, &draft),
            show::list(self.context, &rows, usize::MAX)
        ));
        TryDocument::again(&rows, &draft).write(self.args)?;
        Ok(exit_code::OK)
    }

    fn commit_later(&self, id: &str) -> Ended {
        let draft = drafts::all(self.context).find(id).map_err(drafts::error_of)?;
        let only = (!self.args.commit_only.is_empty()).then(|| ask::below(&draft, &self.only_paths()));
        if only.as_ref().is_some_and(Vec::is_empty) {
            return Err(CommandError::usage(self.text("try-none-below", &[])));
        }
        if draft.state == Standing::Committed {
            let state = draft.state.word();
            return Err(drafts::error_of(CommitError::State { id: short(&draft.id).to_owned(), state }));
        }
        let store = self.context.store()?;
        let paths = drafts::commit(self.context, &store, &draft.id, only.as_deref())
            .map_err(|error| CommandError { code: exit_code::NOT_IN_PLACE, ..error.into() })?;
        let text = self.text("try-committed", &[("n", &paths.to_string()), ("id", short(&draft.id))]);
        print(&format!("{text}\n"));
        Ok(exit_code::OK)
    }

    fn text(&self, id: &str, values: &[(&str, &str)]) -> String {
        self.context.texts().say(id, values)
    }

    fn say(&self, id: &str, values: &[(&str, &str)]) {
        tell(&format!("selfheal: {}", self.text(id, values)));
    }
}

/// The limits that were given as `WHAT=HOW MUCH`.
fn limits(given: &[String]) -> Result<BoxLimits, CommandError> {
    let mut limits = BoxLimits::default();
    for text in given {
        let wrong = || {
            CommandError::usage(format!("{}: not a limit", clean(text)))
                .hint("--limit memory=1G, room=500M, file-size=100M or processes=50")
        };
        let (what, much) = text.split_once('=').ok_or_else(wrong)?;
        let much = Some(size(much).ok_or_else(wrong)?);
        match what {
            "memory" => limits.memory = much,
            "room" => limits.room = much,
            "file-size" => limits.file_size = much,
            "processes" => limits.processes = much,
            _ => return Err(wrong()),
        }
    }
    Ok(limits)
}

/// A number with K, M or G behind it.
fn size(text: &str) -> Option<u64> {
    let (digits, factor) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 1 << 10),
        Some(digits) if text.ends_with('M') => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|size| *size > 0)
}

/// A path as people see it: below the folder of the command without that.
fn near(cwd: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(cwd).ok().filter(|rest| !rest.as_os_str().is_empty());
    shown_path(inside.unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_units() {
        let words = ["memory=1G", "room=5K", "processes=7"].map(str::to_owned);
        let read = limits(&words).unwrap();
        assert_eq!((read.memory, read.room, read.processes), (Some(1 << 30), Some(5 << 10), Some(7)));
        for wrong in ["memory", "memory=", "memory=0", "memory=1T", "room=-1", "x=1"] {
            assert!(limits(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
