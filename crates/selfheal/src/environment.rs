//! The surroundings of runs: what is recorded of them, and which difference explains a failure.

use std::collections::BTreeMap;
use std::ffi::OsString;

use selfheal_core::facts::RecordedFacts;
use selfheal_core::fault::Fault;
use selfheal_core::ids::{JobKey, RunId};
use selfheal_core::job::Job;
use selfheal_core::ports::{Boxes, Journal, RunRecord};
use selfheal_core::scene::Scene;
use selfheal_feedback::environment::{Baseline, Explanation, Pair, explain};
use selfheal_store::Store;

use crate::context::Context;
use crate::login_shell::{self, Manner};
use crate::texts::Texts;
use crate::versions;

/// Runs of a job that are looked through for the last good one.
const LOOK_BACK: usize = 200;

/// What is kept of where a job runs, now. Starts no process.
#[must_use]
pub fn of_job(context: &Context, job: &Job, env: &BTreeMap<OsString, OsString>) -> RecordedFacts {
    let mut facts = selfheal_exec::facts(&job.argv, &job.cwd, env);
    if let Some(program) = &mut facts.program {
        program.version = versions::known(&context.state, program);
    }
    RecordedFacts::of(&facts, &context.redactor())
}

/// A run and where it took place.
pub struct Recorded {
    /// The run.
    pub run: RunRecord,
    /// Where.
    pub facts: RecordedFacts,
}

/// The newest runs of a job whose surroundings are known.
pub fn runs(store: &Store, job: &JobKey) -> Vec<Recorded> {
    let runs = store.runs(job, LOOK_BACK).unwrap_or_default();
    runs.into_iter()
        .filter_map(|run| {
            let facts = serde_json::from_str(run.facts.as_ref()?.as_str()).ok()?;
            Some(Recorded { run, facts })
        })
        .collect()
}

/// The last good run besides one.
#[must_use]
pub fn last_good<'a>(runs: &'a [Recorded], but: Option<&RunId>) -> Option<&'a Recorded> {
    runs.iter().find(|recorded| is_good(&recorded.run) && Some(&recorded.run.id) != but)
}

/// A run that was skipped was none.
fn is_good(run: &RunRecord) -> bool {
    matches!(run.outcome.as_str(), "succeeded" | "negative")
}

/// What is asked about one failure.
pub struct Question<'a> {
    /// What went wrong.
    pub fault: &'a Fault,
    /// Where it went wrong.
    pub here: &'a RecordedFacts,
    /// Where it last went well.
    pub last_good: Option<&'a RecordedFacts>,
    /// Whether a login shell may be run without a box.
    pub for_real: bool,
}

/// What explains a failure, and compared with what.
pub struct Answer {
    /// The difference.
    pub explanation: Explanation,
    /// Compared with what.
    pub baseline: Baseline,
}

/// The one difference that explains a failure: from the last good run, else from a login shell, else from a terminal.
#[must_use]
pub fn answer(
    context: &Context,
    boxes: &dyn Boxes,
    question: &Question<'_>,
    scene: &dyn Scene,
) -> Option<Answer> {
    let Question { fault, here, last_good, for_real } = question;
    let compared = |there: &RecordedFacts, baseline| {
        let explanation = explain(fault, Pair { here, there, baseline }, scene)?;
        Some(Answer { explanation, baseline })
    };
    last_good.and_then(|there| compared(there, Baseline::LastGood)).or_else(|| {
        [Manner::Login, Manner::Interactive].into_iter().find_map(|manner| {
            compared(&login_shell::ask(context, boxes, manner, *for_real)?, Baseline::Login)
        })
    })
}

impl Answer {
    /// In one line.
    #[must_use]
    pub fn line(&self, texts: &Texts) -> String {
        let baseline = match self.baseline {
            Baseline::LastGood => "last-good",
            Baseline::Login => "login",
        };
        let say = |id: &str, values: &[(&str, &str)]| texts.say(&format!("env-{id}-{baseline}"), values);
        match &self.explanation {
            Explanation::PathLacks { folder, command } => {
                say("path-lacks", &[("folder", folder), ("command", command)])
            }
            Explanation::NotSet { name, there } => say("not-set", &[("name", name), ("there", there)]),
            Explanation::Differs { what, here, there } => {
                let what = what_is_named(texts, what);
                say("differs", &[("what", &what), ("here", here), ("there", there)])
            }
            Explanation::Locale { here, there } => say("locale", &[("here", here), ("there", there)]),
            Explanation::NoTerminal => say("no-terminal", &[]),
        }
    }
}

/// The folder, the user and such in the reader's language; a variable by its name.
#[must_use]
pub fn what_is_named(texts: &Texts, what: &str) -> String {
    match what.strip_prefix("limit ") {
        Some(name) => texts.say("env-what-limit", &[("name", name)]),
        None => texts.find(&format!("env-what-{what}"), &[]).unwrap_or_else(|| what.to_owned()),
    }
}
