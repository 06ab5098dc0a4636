//! `selfheal env-diff`: how the surroundings of a job's run differ from those of its last good run and of a login shell.

use std::fmt::Write;

use selfheal_core::facts::RecordedFacts;
use selfheal_core::ids::{JobKey, RunId};
use selfheal_core::incident::Incident;
use selfheal_core::ports::{Boxes, IncidentFilter, Journal};
use selfheal_core::report::Report;
use selfheal_exec::LiveScene;
use selfheal_feedback::environment::{Baseline, Difference, compare, may_explain};
use selfheal_store::Store;
use serde_json::json;

use super::{Ended, print};
use crate::cli::EnvDiffArgs;
use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::environment::{self, Answer, Question, Recorded, what_is_named};
use crate::exit_code;
use crate::login_shell::{self, Manner};
use crate::terminal::clean;
use crate::texts::Texts;

/// Rows that a table shows unless all are asked for.
const ROWS: usize = 12;

/// Prints what is different.
///
/// # Errors
/// When no run of such a job is recorded.
pub fn run(context: &Context, args: &EnvDiffArgs) -> Ended {
    let store = context.store()?;
    let subject = Subject::find(context, &store, &args.job)?;
    let runs = environment::runs(&store, &subject.job);
    let here = subject.run_of_interest(&runs).ok_or_else(|| {
        CommandError::new(format!("no run of {} with its surroundings is recorded", subject.job))
            .hint("run it with selfheal run once")
    })?;
    let texts = context.texts();
    let good = environment::last_good(&runs, Some(&here.run.id));
    let boxes = crate::boxes::runner(context);
    let found = Found {
        here,
        good,
        login: login_shell::ask(context, &boxes, Manner::Login, true),
        answer: subject.answer(context, &boxes, here, good),
    };
    if args.json {
        print(&format!("{:#}\n", found.json(&subject.job, &texts)));
    } else {
        print(&found.text(&texts, args.all));
    }
    Ok(exit_code::OK)
}

/// What was asked about.
struct Subject {
    job: JobKey,
    /// The incident that was named, else the newest of the job.
    incident: Option<Incident>,
    /// Whether it was named: then its own run counts.
    named: bool,
}

impl Subject {
    /// An incident, a job's name, or the path of a script.
    fn find(context: &Context, store: &Store, word: &str) -> Result<Self, CommandError> {
        if let Ok(incident) = store.incident(word) {
            return Ok(Self { job: incident.job.clone(), incident: Some(incident), named: true });
        }
        let script = context.cwd.join(word);
        let script = std::fs::canonicalize(&script).unwrap_or(script);
        let plain = selfheal_core::scene::absolute(&context.cwd, word.as_ref());
        let jobs = store.jobs()?;
        let fits = |key: &&JobKey| {
            key.as_str() == word
                || [&script, &plain]
                    .iter()
                    .any(|path| key.as_str().starts_with(&format!("{}:{}@", context.uid, path.display())))
        };
        let job = jobs.iter().find(fits).cloned().ok_or_else(|| {
            CommandError::new(format!("there is no job, script or incident {word} in the record"))
                .hint("name a job (--job NAME), the path of its script, or an incident of selfheal incidents")
        })?;
        let filter = IncidentFilter { job: Some(job.clone()), states: Vec::new(), most: 1 };
        let incident = store.incidents(&filter)?.into_iter().next();
        Ok(Self { job, incident, named: false })
    }

    /// The run of the named incident; else the newest that failed; else the newest.
    fn run_of_interest<'a>(&self, runs: &'a [Recorded]) -> Option<&'a Recorded> {
        let of_incident = || {
            let opened = self.incident.as_ref().filter(|_| self.named)?.opened;
            runs.iter().find(|recorded| recorded.run.started == opened)
        };
        of_incident()
            .or_else(|| runs.iter().find(|recorded| recorded.run.outcome == "failed"))
            .or_else(|| runs.first())
    }

    fn report(&self) -> Option<Report> {
        serde_json::from_str(self.incident.as_ref()?.report.as_ref()?.as_str()).ok()
    }

    /// The one difference that explains what the incident's report says.
    fn answer(
        &self,
        context: &Context,
        boxes: &dyn Boxes,
        here: &Recorded,
        good: Option<&Recorded>,
    ) -> Option<Answer> {
        let report = self.report()?;
        let remote = report.location.as_ref().is_some_and(|place| place.remote.is_some());
        let fault = report.fault().filter(|fault| may_explain(fault) && !remote)?;
        let env = here.facts.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let scene = LiveScene::new(here.facts.cwd.clone(), env, None);
        let last_good = good.map(|recorded| &recorded.facts);
        let question = Question { fault, here: &here.facts, last_good, for_real: true };
        environment::answer(context, boxes, &question, &scene)
    }
}

/// Everything that is known.
struct Found<'a> {
    here: &'a Recorded,
    good: Option<&'a Recorded>,
    login: Option<RecordedFacts>,
    answer: Option<Answer>,
}

impl Found<'_> {
    fn since_last_good(&self) -> Vec<Difference> {
        self.good.map(|good| compare(&self.here.facts, &good.facts, Baseline::LastGood)).unwrap_or_default()
    }

    fn beside_login(&self) -> Vec<Difference> {
        self.login.as_ref().map(|login| compare(&self.here.facts, login, Baseline::Login)).unwrap_or_default()
    }

    /// One line where one thing explains it, else short tables.
    fn text(&self, texts: &Texts, all: bool) -> String {
        let mut out = String::new();
        if let Some(answer) = &self.answer {
            let _ = writeln!(out, "{}", clean(&answer.line(texts)));
            if !all {
                return out;
            }
        }
        let started = local_time(self.here.run.started);
        let code = self.here.run.exit_code.to_string();
        let _ = writeln!(out, "{}", texts.say("env-run", &[("started", &started), ("code", &code)]));
        match self.good {
            Some(good) => {
                let started = local_time(good.run.started);
                let title = texts.say("env-from-last-good", &[("started", &started)]);
                table(&mut out, texts, &title, &self.since_last_good(), all);
            }
            None => drop(writeln!(out, "{}", texts.say("env-no-last-good", &[]))),
        }
        match &self.login {
            Some(_) => table(&mut out, texts, &texts.say("env-from-login", &[]), &self.beside_login(), all),
            None => drop(writeln!(out, "{}", texts.say("env-no-login", &[]))),
        }
        out
    }

    fn json(&self, job: &JobKey, texts: &Texts) -> serde_json::Value {
        let id: &RunId = &self.here.run.id;
        json!({
            "version": 1,
            "job": job,
            "run": { "id": id, "started": self.here.run.started, "exit_code": self.here.run.exit_code,
                     "outcome": self.here.run.outcome },
            "explanation": self.answer.as_ref().map(|answer| json!({
                "line": answer.line(texts),
                "compared_with": answer.baseline,
                "difference": answer.explanation,
            })),
            "last_good": self.good.map(|good| json!({
                "started": good.run.started,
                "differences": self.since_last_good(),
            })),
            "login_shell": self.login.as_ref().map(|_| json!({ "differences": self.beside_login() })),
        })
    }
}

fn table(out: &mut String, texts: &Texts, title: &str, rows: &[Difference], all: bool) {
    if rows.is_empty() {
        let _ = writeln!(out, "{title} {}", texts.say("env-nothing", &[]));
        return;
    }
    let _ = writeln!(out, "{title}");
    let absent = texts.say("env-absent", &[]);
    let most = if all { rows.len() } else { ROWS };
    for row in rows.iter().take(most) {
        let value = |value: &Option<String>| value.as_deref().map_or_else(|| absent.clone(), short);
        let what = what_is_named(texts, &row.what);
        let _ = writeln!(out, "  {:<20} {:<36} {}", clean(&what), value(&row.here), value(&row.there));
    }
    if rows.len() > most {
        let more = (rows.len() - most).to_string();
        let _ = writeln!(out, "  {}", texts.say("env-more", &[("n", &more)]));
    }
}

fn short(text: &str) -> String {
    let text = clean(text);
    let mut start: String = text.chars().take(60).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}
