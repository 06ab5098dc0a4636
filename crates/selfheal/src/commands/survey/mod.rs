//! `selfheal survey`: reads crontabs, the folders of `run-parts` and systemd timers, runs and changes nothing, and says
//! of each job whether it could be tried in a box, who would see that it failed, and what to do.

mod judge;
mod program;
mod units;

use std::path::{Path, PathBuf};

use selfheal_core::ids::Timestamp;
use serde::Serialize;

use super::cron::places::{self, CronJob, files_in};
use super::{Ended, print, tell};
use crate::cli::SurveyArgs;
use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::cron::{Form, derived_name, is_own, wrapped_in};
use crate::exit_code;
use crate::missed;
use crate::terminal::clean;
use crate::texts::Texts;
use judge::{Blocker, Mail, Seen, seen_by_cron};
use program::{Behind, Lookup};

/// Folders whose programs `run-parts` starts.
const PERIODIC: [(&str, &str); 4] = [
    ("etc/cron.hourly", "@hourly"),
    ("etc/cron.daily", "@daily"),
    ("etc/cron.weekly", "@weekly"),
    ("etc/cron.monthly", "@monthly"),
];

/// Programs that take cron's mail. Source: what cron daemons look for, and the usual replacements.
const MAILERS: [&str; 3] = ["usr/sbin/sendmail", "usr/lib/sendmail", "usr/bin/sendmail"];

/// What is said of one job.
#[derive(Clone, Debug, Serialize)]
struct Surveyed {
    /// The file, or whose table it is.
    place: String,
    /// The line, in a crontab.
    line: Option<usize>,
    /// `cron`, `periodic` or `timer`.
    kind: &'static str,
    /// When it runs.
    schedule: String,
    /// As whom.
    user: String,
    /// Its name.
    name: String,
    /// What it runs.
    command: String,
    /// The script or program, if it was found.
    script: Option<PathBuf>,
    /// Whether selfheal stands in front of it.
    wrapped: bool,
    /// Whether it could be tried in a box.
    can_try: bool,
    /// What stands against that.
    blockers: Vec<Blocker>,
    /// Who would see that it failed.
    seen: Seen,
    /// What to do: `none`, `missing`, `unmask`, `wrap`, `wrap-report`, `unit`, `periodic` or `due`.
    advice: &'static str,
    /// The command that does it.
    advice_command: String,
    /// When a run was due that was not recorded, in milliseconds since 1970.
    missed: Option<Timestamp>,
}

/// Looks and tells.
///
/// # Errors
/// When the survey cannot be written as JSON.
pub fn run(context: &Context, args: &SurveyArgs) -> Ended {
    let surveyor = Surveyor { context, below: args.root.as_deref() };
    let found = places::all(context, args.root.as_deref());
    let mut jobs: Vec<Surveyed> = Vec::new();
    for source in &found.sources {
        let others = source.jobs().into_iter().filter(|job| job.wrapped.is_some() || !is_own(&job.command));
        jobs.extend(others.map(|job| surveyor.cron(source.form, &job)));
    }
    // The runs of an image's jobs are not in this machine's record.
    if args.root.is_none() {
        for missed in missed::find(context, &found.sources) {
            let same = |job: &&mut Surveyed| job.place == missed.place && job.line == Some(missed.line);
            if let Some(job) = jobs.iter_mut().find(same) {
                job.missed = Some(missed.due);
                job.advice = "due";
            }
        }
    }
    jobs.extend(surveyor.periodic());
    jobs.extend(surveyor.timers());
    let redactor = context.redactor();
    for job in &mut jobs {
        job.command = redactor.text(&job.command).to_string();
    }
    if args.json {
        let text = serde_json::to_string_pretty(&jobs)
            .map_err(|error| CommandError::new("failed to write JSON").because(&error))?;
        print(&format!("{text}\n"));
    } else {
        report(&context.texts(), &jobs);
    }
    for what in &found.unreadable {
        tell(&format!("selfheal: {}", clean(what)));
    }
    Ok(exit_code::OK)
}

struct Surveyor<'a> {
    context: &'a Context,
    below: Option<&'a Path>,
}

impl Surveyor<'_> {
    fn root(&self) -> &Path {
        self.below.unwrap_or(Path::new("/"))
    }

    fn mailer(&self) -> bool {
        MAILERS.iter().any(|mailer| self.root().join(mailer).exists())
    }

    /// The home of a user, by the machine's or image's password file.
    fn home(&self, user: &str) -> String {
        let users = std::fs::read_to_string(self.root().join("etc/passwd")).unwrap_or_default();
        let line = users.lines().find(|line| line.split(':').next() == Some(user));
        line.and_then(|line| line.split(':').nth(5)).unwrap_or("/").to_owned()
    }

    fn cron(&self, form: Form, job: &CronJob) -> Surveyed {
        let line = job.shell_text();
        let home = job.home.clone().unwrap_or_else(|| self.home(&job.user));
        let lookup = Lookup { root: self.root(), home: &home, path: job.path.as_deref() };
        let behind = lookup.behind(&line);
        let mail = Mail { to: job.mailto.as_deref().unwrap_or(&job.user), mailer: self.mailer() };
        let seen =
            if job.wrapped.is_some() { Seen::by(true, "selfheal", "") } else { seen_by_cron(&line, mail) };
        let table = match form {
            Form::System => format!(" --file {}", job.place),
            Form::User if job.user == places::user_name(self.context.uid) => String::new(),
            Form::User => format!(" --user {}", job.user),
        };
        let wrap = format!("selfheal cron wrap {}{table} --write", job.line);
        let base = Surveyed {
            place: job.place.clone(),
            line: Some(job.line),
            schedule: job.schedule.clone(),
            user: job.user.clone(),
            name: job.name.clone(),
            command: job.command.clone(),
            wrapped: job.wrapped.is_some(),
            ..Surveyed::of("cron", behind, seen)
        };
        base.advised(wrap, false)
    }

    /// The programs of `cron.daily` and the like.
    fn periodic(&self) -> Vec<Surveyed> {
        let mut out = Vec::new();
        for (folder, schedule) in PERIODIC {
            for file in files_in(&self.root().join(folder)) {
                out.push(self.periodic_job(&file, schedule));
            }
        }
        out
    }

    fn periodic_job(&self, file: &Path, schedule: &str) -> Surveyed {
        let root = self.root();
        let path = Path::new("/").join(file.strip_prefix(root).unwrap_or(file)).display().to_string();
        let behind = Lookup { root, home: "/", path: None }.behind(&path);
        let seen = seen_by_cron(&path, Mail { to: "root", mailer: self.mailer() });
        let base = Surveyed {
            place: file.display().to_string(),
            schedule: schedule.to_owned(),
            user: "root".to_owned(),
            name: derived_name(&path),
            command: path,
            ..Surveyed::of("periodic", behind, seen)
        };
        base.advised(String::new(), true)
    }

    fn timers(&self) -> Vec<Surveyed> {
        let timers = units::timers(self.root());
        timers.iter().flat_map(|timer| timer.commands.iter().map(|one| self.timer_job(timer, one))).collect()
    }

    fn timer_job(&self, timer: &units::Timer, (command, ignored): &(String, bool)) -> Surveyed {
        let home = self.home(&timer.user);
        let behind = Lookup { root: self.root(), home: &home, path: None }.behind(command);
        let wrapped = wrapped_in(command).is_some();
        let seen = match (wrapped, ignored, timer.on_failure.first()) {
            (true, _, _) => Seen::by(true, "selfheal", ""),
            (_, true, _) => Seen::by(false, "masked", ""),
            (_, _, Some(unit)) => Seen::by(true, "handler", unit),
            _ => Seen::by(false, "journal", &timer.service),
        };
        let base = Surveyed {
            place: timer.file.display().to_string(),
            schedule: timer.schedule.clone(),
            user: timer.user.clone(),
            name: timer.name.clone(),
            command: command.clone(),
            wrapped,
            ..Surveyed::of("timer", behind, seen)
        };
        base.advised(format!("systemctl edit {}", timer.service), true)
    }
}

impl Surveyed {
    fn of(kind: &'static str, behind: Behind, seen: Seen) -> Self {
        Self {
            place: String::new(),
            line: None,
            kind,
            schedule: String::new(),
            user: String::new(),
            name: String::new(),
            command: String::new(),
            script: behind.file,
            wrapped: false,
            can_try: behind.blockers.is_empty(),
            blockers: behind.blockers,
            seen,
            advice: "none",
            advice_command: String::new(),
            missed: None,
        }
    }

    /// The one thing to do first.
    fn advised(mut self, command: String, unit: bool) -> Self {
        self.advice = if self.blockers.iter().any(|one| one.kind == "missing") {
            "missing"
        } else if self.wrapped {
            "none"
        } else if self.seen.how == "masked" {
            "unmask"
        } else if self.kind == "periodic" {
            "periodic"
        } else if unit {
            "unit"
        } else if self.can_try {
            "wrap"
        } else {
            "wrap-report"
        };
        if matches!(self.advice, "wrap" | "wrap-report" | "unit") {
            self.advice_command = command;
        }
        self
    }
}

fn report(texts: &Texts, jobs: &[Surveyed]) {
    for job in jobs {
        print(&format!("{}\n", paragraph(texts, job)));
    }
    let count = |test: fn(&Surveyed) -> bool| jobs.iter().filter(|job| test(job)).count().to_string();
    let values = [
        ("n", jobs.len().to_string()),
        ("wrapped", count(|job| job.wrapped)),
        ("tried", count(|job| job.can_try)),
        ("unseen", count(|job| !job.seen.visible)),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    print(&format!("{}\n", texts.say("survey-sum", &values)));
}

fn paragraph(texts: &Texts, job: &Surveyed) -> String {
    let at = job.line.map(|line| format!(":{line}")).unwrap_or_default();
    let label = |id: &str| texts.say(&format!("survey-label-{id}"), &[]);
    let blockers: Vec<String> = job
        .blockers
        .iter()
        .map(|one| texts.say(&format!("survey-block-{}", one.kind), &[("what", &clean(&one.what))]))
        .collect();
    let tried = if job.can_try {
        texts.say("survey-try-yes", &[])
    } else {
        texts.say("survey-try-no", &[("why", &blockers.join(", "))])
    };
    let seen = texts.say(&format!("survey-seen-{}", job.seen.how), &[("place", &clean(&job.seen.place))]);
    let advice =
        texts.say(&format!("survey-advice-{}", job.advice), &[("command", &clean(&job.advice_command))]);
    let head = format!(
        "{}{at}  {}  {}  {}",
        clean(&job.place),
        clean(&job.schedule),
        clean(&job.user),
        clean(&job.name)
    );
    let mut out = format!("{head}\n");
    for (id, text) in [("runs", clean(&job.command)), ("try", tried), ("seen", seen), ("advice", advice)] {
        out.push_str(&format!("    {}: {text}\n", label(id)));
    }
    if let Some(due) = job.missed {
        let text = texts.say("survey-missed", &[("when", &local_time(due))]);
        out.push_str(&format!("    {}: {text}\n", label("missed")));
    }
    out
}
