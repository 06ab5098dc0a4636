//! Deciding what to do with a repair that was verified: holds first, then policy, then the person at the terminal.

use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use selfheal_core::admission::Hold;
use selfheal_core::diagnosis::Basis;
use selfheal_core::effects::Change;
use selfheal_core::engine::Decision;
use selfheal_core::ids::{ContentHash, Timestamp};
use selfheal_core::incident::{Round, StoredChange};
use selfheal_core::install::Install;
use selfheal_core::knowledge::UsedPiece;
use selfheal_core::ports::{BoxedRun, Clock, IncidentFilter, Journal, Snapshots, Standing};
use selfheal_core::proposal::{FileChange, Proposal, Risk, Source};
use selfheal_core::redact::Redacted;
use selfheal_core::scene::Scene;
use selfheal_core::settings::{Answer, Policy};
use selfheal_core::verification::Showed;
use selfheal_syntax::diff;

use super::trial::Attempt;
use super::verify::GOOD_INPUTS;
use super::{Healer, decision_word};
use crate::command_error::CommandError;
use crate::config::Installing;
use crate::{knowledge, normal, surroundings};

/// Effects of the repaired job that are kept for whoever decides.
const MOST_EFFECTS: usize = 40;
/// A day, in milliseconds.
const DAY_MS: i64 = 24 * 3_600_000;

/// How often it is looked, while a person thinks, whether it was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// A question to the person at the terminal.
pub struct Ask;

impl Ask {
    /// Shows a text and reads yes or no; anything but a clear yes is a no, and so is a signal to end.
    #[must_use]
    pub fn yes(question: &str) -> bool {
        let mut error = std::io::stderr();
        if write!(error, "{question} ").and_then(|()| error.flush()).is_err() {
            return false;
        }
        let (sender, answers) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut answer = String::new();
            let read = std::io::stdin().lock().read_line(&mut answer);
            // Nobody listens any more after a signal.
            let _ = sender.send(read.map(|_| answer));
        });
        while selfheal_exec::told_to_end().is_none() {
            match answers.recv_timeout(LOOK) {
                Err(RecvTimeoutError::Timeout) => {}
                answer => return answer.is_ok_and(|read| read.is_ok_and(|answer| is_yes(&answer))),
            }
        }
        false
    }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes" | "j" | "ja" | "是")
}

impl Healer<'_> {
    /// What to do with the chosen repair.
    pub(super) fn decide(&mut self) -> Result<Decision, CommandError> {
        #[cfg(feature = "model")]
        self.server.rest();
        let risk =
            self.chosen.as_ref().and_then(|kept| kept.admission.as_ref()).map_or(Risk::High, |a| a.risk);
        let policy = self.permissions.policy.unwrap_or(Policy::PARK);
        self.incident.holds = self.holds(policy)?;
        let answer = policy.answer(risk);
        let decision = match (self.incident.holds.is_empty(), answer) {
            (_, Answer::Deny) => Decision::Deny,
            _ if self.permissions.policy.is_none() && self.permissions.can_ask => self.ask(risk),
            (true, Answer::Apply) if self.within_daily_limit(policy)? => Decision::Apply,
            _ => Decision::Hold,
        };
        if let (Decision::Hold, Answer::Wait(ms)) = (decision, answer) {
            let now = self.tools.context.clock.now();
            self.incident.answer_by =
                Some(Timestamp(now.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX))));
        }
        tracing::warn!(risk = risk.word(), decision = decision_word(decision), holds = ?self.incident.holds, "decided");
        Ok(decision)
    }

    fn holds(&self, policy: Policy) -> Result<Vec<Hold>, CommandError> {
        let Some(kept) = &self.chosen else { return Ok(vec![Hold::Unjudged]) };
        let mut holds = Vec::new();
        for change in own_and_first_packaged(&kept.candidate.proposal) {
            let new = usize::try_from(self.new_folders(change)).unwrap_or(usize::MAX);
            // A file in new folders is looked at by the first folder that is there.
            let place = if new == 0 { None } else { change.path.ancestors().nth(new) };
            let mut around = surroundings::of(self.tools.context, place.unwrap_or(&change.path))?;
            if self.is_ours(&change.path) {
                around.written_by_us_ms = Some(around.modified_ms);
            }
            holds.extend(selfheal_guard::circumstances(&around));
            if change.path.parent().is_some_and(|folder| self.scene.missing_mount(folder)) {
                holds.push(Hold::MissingMount);
            }
        }
        if kept.candidate.proposal.changes_meaning && !gives_the_same_on_good_inputs(kept) {
            holds.push(Hold::ChangesMeaning);
        }
        if normal::emptied_folder(&self.tools.store.good_runs(&self.job.key)).is_some() {
            holds.push(Hold::SuddenlyEmpty);
        }
        if self.goes_round(&kept.candidate.proposal).is_some() {
            holds.push(Hold::GoesRound);
        }
        if self.tie.get() {
            holds.push(Hold::Tie);
        }
        let asks = self.tools.context.settings.install != Installing::Apply;
        if asks && !kept.candidate.proposal.installs.is_empty() {
            holds.push(Hold::Installs);
        }
        if self.is_in_preview(kept) {
            holds.push(Hold::Preview);
        }
        if let Source::Rules { names } = &kept.candidate.proposal.source
            && !crate::rule_prints::changed(self.tools.store, names)?.is_empty()
        {
            holds.push(Hold::ChangedRule);
        }
        let general = kept.candidate.diagnosis.basis == Basis::General;
        let asks = self.tools.context.settings.asks_for_general;
        if general && asks.unwrap_or_else(|| self.is_by_small_model(&kept.candidate.proposal.source)) {
            holds.push(Hold::GeneralKnowledge);
        }
        if kept.admission.as_ref().is_none_or(|judged| judged.held) {
            holds.push(Hold::Unjudged);
        }
        holds.sort_by_key(|hold| hold.word());
        holds.dedup();
        // A person who gives `--apply medium` for this run speaks for a change of meaning too; a settings file, written
        // once for all jobs, does not.
        let spoken = policy.given_now && policy.medium == Answer::Apply;
        holds.retain(|hold| match hold {
            Hold::ChangesMeaning => !spoken,
            other => !(policy.given_now && other.is_circumstance()),
        });
        Ok(holds)
    }

    /// Whether a rule in preview had a part in a repair and was not promoted: that a person decides.
    fn is_in_preview(&self, kept: &super::trial::Attempt) -> bool {
        let Source::Rules { names } = &kept.candidate.proposal.source else { return false };
        let settings = &self.tools.context.settings.rules;
        selfheal_repair::rules()
            .iter()
            .filter(|rule| rule.preview() && !settings.promotes(rule.name()))
            .any(|rule| names.iter().any(|name| name == rule.name()))
    }

    /// Whether a file is as an earlier repair of this job left it.
    fn is_ours(&self, path: &std::path::Path) -> bool {
        let filter = IncidentFilter {
            job: Some(self.job.key.clone()),
            states: vec!["watching", "confirmed"],
            most: 20,
        };
        let earlier = self.tools.store.incidents(&filter).unwrap_or_default();
        let files =
            earlier.iter().filter_map(|incident| incident.rounds.last()).flat_map(|round| &round.files);
        files
            .filter(|file| file.path == path)
            .any(|file| matches!(self.tools.store.state_of(file), Ok(Standing::After)))
    }

    fn within_daily_limit(&mut self, policy: Policy) -> Result<bool, CommandError> {
        if policy.given_now {
            return Ok(true);
        }
        let now = self.tools.context.clock.now();
        let used = self.tools.store.applied_by_policy_since(Timestamp(now.0 - DAY_MS))?;
        let limit = self.tools.context.settings.limits.applies_per_day;
        if used >= limit {
            self.notes.push(self.tools.texts.say("note-daily-limit", &[("n", &limit.to_string())]));
        }
        Ok(used < limit)
    }

    fn ask(&mut self, risk: Risk) -> Decision {
        self.tools.progress.clear();
        let texts = self.tools.texts;
        let round = self.incident.rounds.last().cloned();
        crate::terminal::Story::new(self.tools.context, texts).question(
            &self.incident,
            self.report.as_ref(),
            round.as_ref(),
        );
        let question = texts.say("ask-apply", &[("risk", &texts.say(&format!("risk-{}", risk.word()), &[]))]);
        if Ask::yes(&question) { Decision::Apply } else { Decision::Hold }
    }

    /// Writes the chosen attempt into the incident as its round.
    pub(super) fn record_round(&mut self) -> Result<(), CommandError> {
        let Some(kept) = &self.chosen else { return Ok(()) };
        let proposal = &kept.candidate.proposal;
        let redactor = self.tools.redactor;
        let number = u32::try_from(self.incident.rounds.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.incident.rounds.push(Round {
            number,
            source: Some(proposal.source.clone()),
            diagnosis: redactor.json(&kept.candidate.diagnosis).ok(),
            summary: proposal.summary.iter().map(|line| redactor.text(line)).collect(),
            diff: Some(self.diff_of(proposal)),
            files: proposal.changes.iter().map(|change| self.stored(change)).collect::<Result<_, _>>()?,
            admission: kept.admission.as_ref().and_then(|judged| redactor.value(judged)),
            verification: kept.verification.as_ref().and_then(|shown| redactor.value(shown)),
            risk: kept.admission.as_ref().map(|judged| judged.risk),
            knowledge: self.used_knowledge(kept),
            installs: proposal.installs.iter().filter_map(|install| redactor.value(install)).collect(),
            effects: kept.good.as_ref().map(|run| self.effect_lines(run)).unwrap_or_default(),
        });
        Ok(())
    }

    /// The passages that the question for a model's repair held, and on which of them the repair rests.
    fn used_knowledge(&self, kept: &Attempt) -> Vec<UsedPiece> {
        let proposal = &kept.candidate.proposal;
        if !matches!(proposal.source, Source::Model { .. }) {
            return Vec::new();
        }
        let texts = |side: fn(&FileChange) -> &Option<Vec<u8>>| -> String {
            let all = proposal.changes.iter().filter_map(|change| side(change).as_deref());
            all.map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n")
        };
        let (before, after) = (texts(|change| &change.before), texts(|change| &change.after));
        let messages = format!("{}\n{}", self.run.stdout.text(), self.run.stderr.text());
        let rests = selfheal_repair::knowledge::rests_on(&self.known, &before, &after, &messages);
        let pieces = self.known.iter().zip(rests);
        pieces.map(|(piece, rests)| knowledge::used(piece, rests, self.tools.redactor)).collect()
    }

    /// What the repaired job did to files in the failing state, for whoever decides.
    fn effect_lines(&self, run: &BoxedRun) -> Vec<Redacted> {
        let lines = run.effects.iter().take(MOST_EFFECTS).map(|effect| {
            let word = match effect.change {
                Change::Created => "created",
                Change::CreatedFolder => "created folder",
                Change::Changed => "changed",
                Change::Appended => "appended to",
                Change::Attributes => "changed mode, owner or times of",
                Change::Deleted => "deleted",
            };
            self.tools.redactor.text(&format!("{word} {}", crate::terminal::shown_path(&effect.path)))
        });
        let more = run.effects.len().saturating_sub(MOST_EFFECTS);
        let rest = (more > 0).then(|| self.tools.redactor.text(&format!("and {more} more")));
        lines.chain(rest).collect()
    }

    fn stored(&self, change: &FileChange) -> Result<StoredChange, CommandError> {
        let mode_before = self.scene.facts(&change.path).map(|facts| facts.mode);
        Ok(StoredChange {
            path: change.path.clone(),
            before: self.hash(change.before.as_deref())?,
            after: self.hash(change.after.as_deref())?,
            mode_before,
            mode_after: change.mode.filter(|mode| Some(*mode) != mode_before),
            new_folders: self.new_folders(change),
        })
    }

    /// How many folders above an added file are not there yet.
    fn new_folders(&self, change: &FileChange) -> u32 {
        let above = change.path.ancestors().skip(1).filter(|_| change.before.is_none());
        above.take_while(|folder| self.scene.facts(folder).is_none()).count().try_into().unwrap_or(u32::MAX)
    }

    /// Saves a content, so that the repair can be applied later by whoever decides, and names it.
    fn hash(&self, content: Option<&[u8]>) -> Result<Option<ContentHash>, CommandError> {
        Ok(content.map(|content| self.tools.store.save(content)).transpose()?)
    }

    /// The diff of all that is the job's own; packages are named, with what pins their content.
    pub(super) fn diff_of(&self, proposal: &Proposal) -> Redacted {
        let own = proposal.changes.iter().filter(|change| !proposal.is_packaged(&change.path));
        let packages = proposal.installs.iter().map(installed);
        let pieces: Vec<Redacted> =
            own.map(one_diff).chain(packages).map(|text| self.tools.redactor.text(&text)).collect();
        Redacted::join(&pieces, "")
    }

    /// Whether a small model wrote it, which does not know what it does not know.
    #[cfg(feature = "model")]
    fn is_by_small_model(&self, source: &Source) -> bool {
        let Source::Model { name } = source else { return false };
        let first = self.tools.context.settings.model.as_ref();
        first.into_iter().flat_map(crate::config::ModelSettings::ladder).any(|model| {
            model.name == *name
                && model.way() == crate::config::Way::Short
                && !self.leaves_out(crate::cli::Part::Short)
        })
    }

    #[cfg(not(feature = "model"))]
    fn is_by_small_model(&self, _: &Source) -> bool {
        false
    }
}

/// Whether the repaired job was shown to do on the inputs of a good run what the original does.
fn gives_the_same_on_good_inputs(kept: &Attempt) -> bool {
    let checks = kept.verification.as_ref().map(|shown| shown.checks.as_slice()).unwrap_or_default();
    checks.iter().any(|check| check.name == GOOD_INPUTS && check.showed == Showed::Passed)
}

/// The changes that are the job's own files, and one for each place that packages go to: what stands around it is the same
/// for all of them.
fn own_and_first_packaged(proposal: &Proposal) -> impl Iterator<Item = &FileChange> {
    let own = proposal.changes.iter().filter(|change| !proposal.is_packaged(&change.path));
    let first = proposal
        .installs
        .iter()
        .filter_map(|install| proposal.changes.iter().find(|change| install.holds(&change.path)));
    own.chain(first)
}

/// What an installer brings, a line for each package.
fn installed(install: &Install) -> String {
    let mut out = format!("{} into {}\n", install.tool, install.place.display());
    for package in &install.packages {
        let _ = writeln!(out, "+{} {} ({})", package.name, package.version, package.hash);
    }
    out
}

fn one_diff(change: &FileChange) -> String {
    let text = |content: &Option<Vec<u8>>| {
        String::from_utf8_lossy(content.as_deref().unwrap_or_default()).into_owned()
    };
    let mut out =
        diff::unified(&change.path.display().to_string(), &text(&change.before), &text(&change.after));
    if let Some(mode) = change.mode {
        out.insert_str(0, &format!("mode {}: {mode:04o}\n", change.path.display()));
    }
    out
}
