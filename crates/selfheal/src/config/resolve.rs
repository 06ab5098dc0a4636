//! From layers to the settings that the rest of the program sees.

use selfheal_core::job::Job;
use selfheal_core::settings::{Answer, Limits, Policy};

use super::model::{merge_model, model_settings, take_caps};
use super::options::{
    BoxOptions, GeneralKnowledge, Installing, LimitOptions, LowestRung, ModelOptions, NotifyOptions,
    PolicyOptions, ReportOptions, RunOptions, StoreSettingOptions, Unusual,
};
use super::{Layer, ModelSettings, Options, Origin};
use crate::contract::Contract;

/// The resolved settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What is applied unattended; `None` where nobody ever said.
    pub policy: Option<Policy>,
    /// Whether a person decides on repairs that rest on general knowledge; where nobody said, on those that a small model wrote.
    pub asks_for_general: Option<bool>,
    /// Every hard stop.
    pub limits: Limits,
    /// The language model, if one is configured.
    pub model: Option<ModelSettings>,
    /// Who is told, and how.
    pub notify: NotifyOptions,
    /// What a repair is worth.
    pub report: ReportOptions,
    /// How jobs are run.
    pub run: RunSettings,
    /// Which rules are used.
    pub rules: RuleSettings,
    /// What becomes of a package that the project declares and that is not there.
    pub install: Installing,
    /// The boxes that repairs are tried in.
    pub boxes: BoxSettings,
    /// How long what is recorded is kept.
    pub store: KeepSettings,
    /// What good runs must have done: for all jobs, or for the one that is named.
    pub contracts: Vec<(Option<String>, Contract)>,
}

/// How long what is recorded is kept, and where the head of the ledger is sent to besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepSettings {
    /// Days after which what nobody needs any more is dropped.
    pub days: u32,
    /// Bytes beyond which it is dropped earlier.
    pub bytes: u64,
    /// Where the head of the ledger is sent to, in words.
    pub anchors: Vec<String>,
    /// The program that keeps it, with arguments.
    pub anchor_program: Option<Vec<String>>,
}

impl Default for KeepSettings {
    fn default() -> Self {
        Self { days: 90, bytes: 1_500 * MIB, anchors: Vec::new(), anchor_program: None }
    }
}

/// The boxes that repairs are tried in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoxSettings {
    /// The lowest rung that will do.
    pub rung: LowestRung,
    /// Further secrets: absolute paths, or paths in every home, also with `~/` before them.
    pub hide: Vec<String>,
    /// Secrets that jobs in boxes may see.
    pub see: Vec<String>,
}

/// Which rules are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSettings {
    /// Rules that are not asked.
    pub off: Vec<String>,
    /// Rules in preview that may act like all others.
    pub promoted: Vec<String>,
}

impl RuleSettings {
    /// Whether a rule in preview may act like all others.
    #[must_use]
    pub fn promotes(&self, name: &str) -> bool {
        self.promoted.iter().any(|one| one == name || one == "all")
    }
}

impl Settings {
    /// The contract of one job: all that is said of it, by its name, its script's file name, or for every job.
    #[must_use]
    pub fn contract_for(&self, job: &Job) -> Contract {
        let script = job.script.as_deref().and_then(|path| path.file_name()).and_then(|name| name.to_str());
        let mut whole = Contract::default();
        for (name, contract) in &self.contracts {
            let fits = name.as_deref().is_none_or(|name| name == job.key.as_str() || Some(name) == script);
            if fits {
                whole.checks.extend(contract.checks.iter().cloned());
                whole.command = contract.command.clone().or(whole.command);
            }
        }
        whole
    }
}

/// How jobs are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// Bytes of piped standard input that are kept for another run.
    pub input_bytes: u64,
    /// No run is called slow before, in milliseconds.
    pub slow_after_ms: u64,
    /// Bytes at which a log is rotated; 0 is never.
    pub log_bytes: u64,
    /// Older logs that are kept.
    pub log_keep: u32,
    /// What becomes of a good run that left much less or more than the ones before.
    pub unusual: Unusual,
    /// Whether a host that a failure is about is looked at.
    pub look_at_hosts: bool,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            input_bytes: 8 * MIB,
            slow_after_ms: 60_000,
            log_bytes: 64 * MIB,
            log_keep: 5,
            unusual: Unusual::Report,
            look_at_hosts: true,
        }
    }
}

const MIB: u64 = 1 << 20;

/// Resolves the layers, in their order.
#[must_use]
pub fn resolve(layers: &[Layer]) -> Settings {
    let mut settings = Settings {
        policy: None,
        asks_for_general: None,
        limits: Limits::default(),
        model: None,
        notify: NotifyOptions::default(),
        report: ReportOptions::default(),
        run: RunSettings::default(),
        rules: RuleSettings::default(),
        install: Installing::default(),
        boxes: BoxSettings::default(),
        store: KeepSettings::default(),
        contracts: Vec::new(),
    };
    let mut model = ModelOptions::default();
    for layer in layers {
        let options = &layer.options;
        // Whoever may say anything may say that a rule is not asked; only machine and user let one act.
        let rules = options.rules.clone().unwrap_or_default();
        settings.rules.off.extend(rules.off.unwrap_or_default());
        if layer.origin != Origin::Project {
            settings.rules.promoted.extend(rules.promote.unwrap_or_default());
        }
        if let Some(install) = options.repair.and_then(|repair| repair.install) {
            // A project's file may only ask for less.
            let most = if layer.origin == Origin::Project { settings.install } else { install };
            settings.install = install.min(most);
        }
        take_boxes(&mut settings.boxes, options.boxes.clone().unwrap_or_default(), layer.origin);
        take_run(&mut settings.run, options.run.unwrap_or_default(), layer.origin);
        settings.contracts.extend(contracts_of(options));
        if let Some(said) = options.policy.and_then(|policy| policy.general_knowledge) {
            settings.asks_for_general = match said {
                GeneralKnowledge::Ask => Some(true),
                // A project may only be stricter.
                GeneralKnowledge::Apply if layer.origin == Origin::Project => settings.asks_for_general,
                GeneralKnowledge::Apply => Some(false),
            };
        }
        if layer.origin == Origin::Project {
            tighten(&mut settings, options.policy, options.limits);
            continue;
        }
        take_store(&mut settings.store, options.store.clone().unwrap_or_default());
        if let Some(policy) = options.policy {
            settings.policy = Some(widen(settings.policy.unwrap_or(Policy::PARK), policy));
        }
        if let Some(limits) = options.limits {
            take_limits(&mut settings.limits, limits, |_, new| new);
            take_watch(&mut settings.limits, limits, |_, new| new);
        }
        if let Some(options) = &options.model {
            merge_model(&mut model, options);
        }
        if let Some(notify) = &options.notify {
            take_notify(&mut settings.notify, notify);
        }
        if let Some(report) = options.report {
            let old = settings.report;
            settings.report = ReportOptions {
                minutes_per_repair: report.minutes_per_repair.or(old.minutes_per_repair),
                minutes_per_retry: report.minutes_per_retry.or(old.minutes_per_retry),
            };
        }
    }
    settings.model = model_settings(&model);
    settings
}

/// What a file says of good runs. Demanding more is no loosening, so a project's file counts, too.
fn contracts_of(options: &Options) -> impl Iterator<Item = (Option<String>, Contract)> + '_ {
    let all = options.job.iter().map(|job| (None, job));
    let named = options.jobs.iter().map(|(name, job)| (Some(name.clone()), job));
    all.chain(named).filter_map(|(name, job)| Some((name, job.expect.as_ref()?.contract().ok()?)))
}

/// A later file adds channels, and says of each it names all anew.
fn take_notify(notify: &mut NotifyOptions, said: &NotifyOptions) {
    if let Some(words) = &said.program {
        notify.program = Some(words.clone()).filter(|words| !words.is_empty());
    }
    notify.pause = said.pause.or(notify.pause);
    notify.at_end = said.at_end.or(notify.at_end);
    notify.language = said.language.clone().or(notify.language.take());
    notify.weekly = said.weekly.or(notify.weekly);
    notify.mail = said.mail.clone().or(notify.mail.take());
    notify.webhook.extend(said.webhook.clone());
}

fn widen(base: Policy, said: PolicyOptions) -> Policy {
    Policy {
        low: said.low.unwrap_or(base.low),
        medium: said.medium.unwrap_or(base.medium),
        high: said.high.unwrap_or(base.high),
        given_now: false,
    }
}

/// What a project's file may do: make an answer stricter, a limit smaller.
fn tighten(settings: &mut Settings, policy: Option<PolicyOptions>, limits: Option<LimitOptions>) {
    if let (Some(base), Some(said)) = (settings.policy, policy) {
        settings.policy = Some(Policy {
            low: stricter(base.low, said.low),
            medium: stricter(base.medium, said.medium),
            high: stricter(base.high, said.high),
            given_now: false,
        });
    }
    if let Some(limits) = limits {
        take_limits(&mut settings.limits, limits, u64::min);
        // A longer watch is the stricter one.
        take_watch(&mut settings.limits, limits, u64::max);
    }
}

/// Only machine and user say what becomes of the record.
fn take_store(store: &mut KeepSettings, said: StoreSettingOptions) {
    store.days = said.days.map_or(store.days, |days| days.max(1));
    store.bytes = said.size.map_or(store.bytes, |size| size.saturating_mul(MIB));
    if let Some(words) = said.anchor {
        store.anchors = words;
    }
    store.anchor_program =
        said.anchor_program.or(store.anchor_program.take()).filter(|words| !words.is_empty());
}

/// A project's file may hide more and demand a better rung, and never the other way round.
fn take_boxes(boxes: &mut BoxSettings, said: BoxOptions, origin: Origin) {
    boxes.hide.extend(said.hide.unwrap_or_default());
    if origin == Origin::Project {
        boxes.rung = boxes.rung.max(said.rung.unwrap_or_default());
    } else {
        boxes.rung = said.rung.unwrap_or(boxes.rung);
        boxes.see.extend(said.see.unwrap_or_default());
    }
}

/// A project's file may lower what selfheal keeps in memory, not raise it.
fn take_run(run: &mut RunSettings, said: RunOptions, origin: Origin) {
    if let Some(input) = said.input_limit.map(|limit| limit.saturating_mul(MIB)) {
        let most = if origin == Origin::Project { run.input_bytes } else { u64::MAX };
        run.input_bytes = input.min(most);
    }
    run.slow_after_ms = said.slow_after.map_or(run.slow_after_ms, |seconds| seconds.saturating_mul(1_000));
    run.log_bytes = said.log_size.map_or(run.log_bytes, |size| size.saturating_mul(MIB));
    if let Some(unusual) = said.unusual {
        run.unusual = if origin == Origin::Project { run.unusual.max(unusual) } else { unusual };
    }
    // A project may only ask for less.
    let looks = said.look_at_hosts.unwrap_or(run.look_at_hosts);
    run.look_at_hosts = looks && (origin != Origin::Project || run.look_at_hosts);
    run.log_keep = said.log_keep.unwrap_or(run.log_keep);
}

fn stricter(base: Answer, said: Option<Answer>) -> Answer {
    let rank = |answer| match answer {
        Answer::Apply => 0,
        Answer::Park => 1,
        Answer::Wait(_) => 2,
        Answer::Deny => 3,
    };
    match (base, said) {
        (Answer::Wait(base), Some(Answer::Wait(said))) => Answer::Wait(base.min(said)),
        (base, Some(said)) if rank(said) > rank(base) => said,
        _ => base,
    }
}

fn take_limits(limits: &mut Limits, said: LimitOptions, choose: impl Fn(u64, u64) -> u64 + Copy) {
    let count = |into: &mut u32, new: Option<u32>| {
        if let Some(new) = new {
            *into = u32::try_from(choose(u64::from(*into), u64::from(new))).unwrap_or(u32::MAX);
        }
    };
    let time = |into: &mut u64, new: Option<u64>| {
        if let Some(new) = new {
            *into = choose(*into, new.saturating_mul(1_000));
        }
    };
    count(&mut limits.rounds, said.rounds);
    count(&mut limits.transient_retries, said.transient_retries);
    count(&mut limits.unknown_retries, said.unknown_retries);
    count(&mut limits.small_change_lines, said.small_change_lines);
    count(&mut limits.applies_per_day, said.applies_per_day);
    count(&mut limits.storm_jobs, said.storm_jobs);
    time(&mut limits.retry_total_ms, said.retry_total);
    time(&mut limits.trial_ms, said.trial);
    time(&mut limits.incident_ms, said.incident);
    time(&mut limits.cap_ms, said.cap);
    if let Some(mib) = said.trial_disk {
        limits.trial_bytes = choose(limits.trial_bytes, mib.saturating_mul(1 << 20));
    }
    if let Some(mib) = said.step_output {
        limits.step_output_bytes = choose(limits.step_output_bytes, mib.saturating_mul(1 << 20));
    }
    take_caps(limits, &said, choose);
}

fn take_watch(limits: &mut Limits, said: LimitOptions, choose: impl Fn(u64, u64) -> u64) {
    if let Some(seconds) = said.watch {
        limits.watch_ms = choose(limits.watch_ms, seconds.saturating_mul(1_000));
    }
    if let Some(runs) = said.watch_runs {
        let runs = choose(u64::from(limits.watch_runs), u64::from(runs));
        limits.watch_runs = u32::try_from(runs).unwrap_or(u32::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Options;

    fn layer(origin: Origin, text: &str) -> Layer {
        let options = Options::parse(text, &mut Vec::new()).unwrap();
        Layer { origin, path: "x".into(), options }
    }

    #[test]
    fn a_project_can_only_tighten() {
        let user = layer(Origin::User, "[policy]\nlow='apply'\nmedium='park'\n[limits]\nrounds=2");
        let project = layer(
            Origin::Project,
            "[policy]\nlow='park'\nmedium='apply'\n[limits]\nrounds=9\nwatch=60\nwatch-runs=5\n[model]\nname='openai:x'\nurl='http://evil'\n[notify]\nprogram=['x']\n[rules]\noff=['a']\npromote=['b']",
        );
        let settings = resolve(&[user, project]);
        let policy = settings.policy.unwrap();
        assert_eq!((policy.low, policy.medium), (Answer::Park, Answer::Park));
        assert_eq!(settings.limits.rounds, 2);
        assert_eq!((settings.limits.watch_ms, settings.limits.watch_runs), (24 * 3_600_000, 5));
        assert_eq!(settings.model, None);
        assert_eq!(settings.notify, NotifyOptions::default());
        assert_eq!(settings.rules, RuleSettings { off: vec!["a".to_owned()], promoted: Vec::new() });
    }

    #[test]
    fn a_project_says_nothing_of_the_record() {
        let keep = KeepSettings::default();
        let text = crate::config::DEFAULT_TOML;
        for line in [format!("#days = {} ", keep.days), format!("#size = {} ", keep.bytes / MIB)] {
            assert!(text.contains(&line), "{line}");
        }
        let user =
            layer(Origin::User, "[store]\ndays=0\nsize=7\nanchor=['syslog']\nanchor-program=['/bin/keep']");
        let project = layer(Origin::Project, "[store]\ndays=1000\nsize=1\nanchor=[]\nanchor-program=['x']");
        let store = resolve(&[user, project]).store;
        assert_eq!((store.days, store.bytes, store.anchors), (1, 7 * MIB, vec!["syslog".to_owned()]));
        assert_eq!(store.anchor_program, Some(vec!["/bin/keep".to_owned()]));
    }

    #[test]
    fn the_template_names_the_defaults_of_runs() {
        let text = crate::config::DEFAULT_TOML;
        let run = RunSettings::default();
        let lines = [
            format!("#input-limit = {} ", run.input_bytes / MIB),
            format!("#slow-after = {} ", run.slow_after_ms / 1_000),
            format!("#log-size = {} ", run.log_bytes / MIB),
            format!("#log-keep = {} ", run.log_keep),
        ];
        assert!(lines.iter().all(|line| text.contains(line.as_str())), "{lines:?}");
        let user = layer(Origin::User, "[run]\ninput-limit=2\nlog-size=0");
        let project = layer(Origin::Project, "[run]\ninput-limit=4\nlog-keep=1\nlook-at-hosts=true");
        let run = resolve(&[user, project]).run;
        assert!(run.look_at_hosts && text.contains("#look-at-hosts = true "));
        let without = layer(Origin::User, "[run]\nlook-at-hosts=false");
        let project = layer(Origin::Project, "[run]\nlook-at-hosts=true");
        assert!(!resolve(&[without, project]).run.look_at_hosts);
        assert_eq!((run.input_bytes, run.log_bytes, run.log_keep), (2 * MIB, 0, 1));
    }

    #[test]
    fn a_project_lets_nothing_be_installed() {
        let said = |origin, word: &str| layer(origin, &format!("[repair]\ninstall='{word}'"));
        let of = |layers: &[Layer]| resolve(layers).install;
        assert_eq!(of(&[]), Installing::Never);
        assert_eq!(of(&[said(Origin::Project, "apply")]), Installing::Never);
        assert_eq!(of(&[said(Origin::User, "apply"), said(Origin::Project, "ask")]), Installing::Ask);
        assert_eq!(of(&[said(Origin::User, "ask"), said(Origin::Project, "apply")]), Installing::Ask);
        assert_eq!(of(&[said(Origin::Machine, "apply"), said(Origin::User, "never")]), Installing::Never);
        assert!(crate::config::DEFAULT_TOML.contains("#install = \"never\" "));
    }

    #[test]
    fn a_project_alone_sets_no_policy() {
        assert_eq!(resolve(&[layer(Origin::Project, "[policy]\nlow='apply'")]).policy, None);
    }
}
