//! One small failure about which a model is asked only to see what it does with it: `selfheal model test`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selfheal_core::fault::Fault;
use selfheal_core::ids::Signature;
use selfheal_core::outcome::Class;
use selfheal_core::ports::Clock;
use selfheal_core::report::{About, Cause, Confidence, FailedCommand, Location, Report};
use selfheal_core::usage::Usage;
use selfheal_model::Client;
use selfheal_repair::prompts::{
    Document, PromptInput, diagnosis_question, proposal_question, read_diagnosis, read_proposal, read_short,
    short_question,
};
use selfheal_store::{Store, StoreOptions, UsageRecord};

use super::client::{ask, budget, client};
use super::llama::Server;
use super::{FIRST, material};
use crate::config::{ModelSettings, Way};
use crate::context::Context;

/// A job as small as a real one can be: it writes into a folder that nobody made.
const SCRIPT: &str = "#!/bin/bash\n# Packs the texts that came in.\nset -eu\nIN=incoming\nOUT=archive\nfor file in \"$IN\"/*.txt; do\n  gzip -c \"$file\" > \"$OUT/$(basename \"$file\").gz\"\ndone\necho \"packed\"\n";
const FAILING: u32 = 7;
const ERROR: &str = "pack.sh: line 7: archive/monday.txt.gz: No such file or directory";

/// What a model did with it.
#[derive(Debug)]
pub struct Tried {
    /// How long its server took to start, where it is started here.
    pub started: Option<Duration>,
    /// From the first question to the last answer.
    pub took: Duration,
    /// What the calls took.
    pub usage: Usage,
    /// What its answer changes, or why it cannot be used.
    pub answer: Result<String, String>,
}

/// Asks a configured model about the small failure, in the way in which it is asked about real ones.
///
/// # Errors
/// In words, when it cannot be asked at all: no server, no key, not enough memory, no budget.
pub fn try_sample(context: &Context, settings: &ModelSettings, server: &mut Server) -> Result<Tried, String> {
    let begun = Instant::now();
    let ours = Server::wanted(settings) && context.traffic.replay.is_none();
    let reached = if ours { server.started(context, settings)? } else { settings.clone() };
    let started = ours.then(|| begun.elapsed());
    let now = context.clock.now().0;
    let budget = Arc::new(budget(context, now));
    let (state, model) = (context.state.clone(), settings.name.clone());
    let client = client(context, &reached)?.with_budget(Arc::clone(&budget)).with_meter(move |usage| {
        let record = UsageRecord { at: now, incident: None, model: model.clone(), usage: *usage };
        let noted = Store::open(&state, StoreOptions::default()).and_then(|store| store.note_usage(&record));
        if let Err(error) = noted {
            tracing::error!(%error, "what a call took could not be noted");
        }
    });
    let asked = Instant::now();
    let answer = answered(context, settings, &Arc::new(client))?;
    Ok(Tried { started, took: asked.elapsed(), usage: budget.spent(), answer })
}

fn answered(
    context: &Context,
    settings: &ModelSettings,
    client: &Arc<Client>,
) -> Result<Result<String, String>, String> {
    let folder = context.state.join("sample");
    let script = Document { path: folder.join("pack.sh"), text: SCRIPT.to_owned(), is_data: false };
    let (report, redactor) = (report(&script), context.redactor().leaving());
    let nonce = context.clock.fresh_id().replace('-', "");
    let templates: BTreeMap<String, String> = material::templates(settings)?;
    let input = PromptInput {
        command: "bash pack.sh",
        language: "bash",
        script: Some(&script),
        report: &report,
        stdout_end: "",
        stderr_end: ERROR,
        trace: None,
        project: &[],
        references: "",
        context: "",
        history: &[],
        send_data: settings.send_data(),
        nonce: &nonce,
        redactor: &redactor,
        chinese: settings.chinese,
        templates: &templates,
        hints: true,
        only_line: false,
        examples: true,
        far_is_fine: true,
    };
    let failed = |error: selfheal_repair::prompts::PromptError| format!("failed to {error}");
    if settings.way() == Way::Short {
        let question = short_question(&input, FIRST).map_err(failed)?;
        let said = ask(client, &question).map_err(|error| error.to_string())?;
        let read = read_short(said.value.as_str().unwrap_or_default(), &input, &settings.name);
        return Ok(read.map(|(diagnosis, _)| diagnosis.strategy));
    }
    let question = diagnosis_question(&input).map_err(failed)?;
    let said = ask(client, &question).map_err(|error| error.to_string())?;
    let diagnosis = match read_diagnosis(&said.value, &input) {
        Ok(diagnosis) => diagnosis,
        Err(reason) => return Ok(Err(reason)),
    };
    let question = proposal_question(&input, &diagnosis).map_err(failed)?;
    let said = ask(client, &question).map_err(|error| error.to_string())?;
    Ok(read_proposal(&said.value, &input, &settings.name).map(|_| diagnosis.strategy))
}

fn report(script: &Document) -> Report {
    let text = SCRIPT.lines().nth(FAILING as usize - 1).unwrap_or_default().trim();
    Report {
        status: "exit code 1".to_owned(),
        class: Class::Environment,
        core_error: ERROR.to_owned(),
        faults: vec![Fault::NoSuchPath { path: "archive/monday.txt.gz".into() }],
        location: Some(Location {
            file: script.path.clone(),
            line: FAILING,
            column: None,
            function: None,
            remote: None,
        }),
        command: Some(FailedCommand { source: text.to_owned(), words: Vec::new(), status: Some(1) }),
        snippet: Vec::new(),
        causes: vec![Cause {
            id: "missing-folder".to_owned(),
            text: "The folder archive does not exist.".to_owned(),
            evidence: vec!["archive is missing".to_owned()],
            disproved_by: "There is a folder archive.".to_owned(),
            about: About::default(),
        }],
        context: vec![("state of archive".to_owned(), "missing".to_owned())],
        confidence: Confidence::High,
        signature: Signature::new("sample"),
    }
}
