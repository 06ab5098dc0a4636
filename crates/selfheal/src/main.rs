//! selfheal: runs scripts and batch jobs that nobody watches, and heals them when they fail.
//!
//! The whole program in one look: the hidden commands first (supervision and boxes are this program, started again and
//! single-threaded), then the command line, then one function per command, then the exit code.
#![forbid(unsafe_code)]

mod anchor;
mod boxes;
mod cli;
mod clock;
mod command_error;
mod commands;
mod config;
mod context;
mod contract;
mod cron;
mod document;
mod drafts;
mod driver;
mod environment;
mod evidence;
mod examples;
mod exit_code;
#[cfg(debug_assertions)]
mod failpoints;
mod guard_rules;
mod hosts;
#[cfg_attr(not(feature = "model"), expect(dead_code, reason = "only a model is told of all of it"))]
mod knowledge;
mod lock;
mod logging;
mod login_shell;
mod missed;
mod normal;
mod not_started;
mod notify;
mod overlap;
mod pace;
mod profiles;
mod report;
mod review;
mod rule_prints;
mod secrets;
mod surroundings;
mod tables;
mod tasks;
mod terminal;
mod texts;
mod timer;
mod traffic;
mod transaction;
mod unparsed;
mod versions;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use command_error::CommandError;
use context::Context;

pub(crate) use driver::{
    command_line as driver_command_line, entry as driver_entry, maker as driver_maker,
    package_fact as driver_package_fact, run_record as driver_run_record,
};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = selfheal_exec::hidden_command(args.get(1..).unwrap_or_default()) {
        return exit(code);
    }
    #[cfg(debug_assertions)]
    failpoints::register();
    selfheal_exec::survive_file_limit();
    let cli = match parse(args.clone()) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &args),
    };
    match run(&Context::from_process(), cli.command) {
        Ok(code) => exit(code),
        Err(error) => {
            commands::tell(&error.to_string());
            exit(error.code)
        }
    }
}

/// `run` is what stands in front of every job: where its own words are right, those of the other commands are not needed.
/// All that is wrong, and help, is told by the whole grammar.
fn parse(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    match args.get(1).filter(|word| *word == "run").and_then(|_| cli::run_alone(args.iter().skip(1))) {
        Some(run) => Ok(Cli { command: Command::Run(Box::new(run)) }),
        None => Cli::try_parse_from(args),
    }
}

fn run(context: &Context, command: Command) -> Result<i32, CommandError> {
    if let Some(said) = drafts::recover(context) {
        commands::tell(&format!("selfheal: {said}"));
    }
    match command {
        Command::Run(args) => {
            let mut context = context.with_model(args.model.as_deref(), args.model_url.as_deref())?;
            if let (Some(samples), Some(model)) = (args.model_samples, &mut context.settings.model) {
                model.samples = samples.max(1);
            }
            if let (Some(seconds), Some(model)) = (args.model_timeout, &mut context.settings.model) {
                model.timeout_s = seconds.max(1);
            }
            context.traffic = traffic::Traffic::of(&context.cwd, args.record.as_ref(), args.replay.as_ref());
            if args.promote {
                context.settings.rules.promoted.push("all".to_owned());
            }
            commands::run::run(&context, &args)
        }
        Command::Try(args) => commands::r#try::run(context, &args),
        Command::Task(args) => commands::task::run(context, &args),
        #[cfg(feature = "model")]
        Command::Write(args) => {
            let context = context.with_model(args.model.model.as_deref(), args.model.model_url.as_deref())?;
            commands::write::run(&context, &args)
        }
        #[cfg(feature = "model")]
        Command::Model(args) => {
            let cli::LanguageModelCommand::Test { model } = &args.command;
            let context = context.with_model(model.model.as_deref(), model.model_url.as_deref())?;
            commands::model::run(&context, &args)
        }
        #[cfg(not(feature = "model"))]
        Command::Write(_) | Command::Model(_) => {
            Err(CommandError::usage("this selfheal was built without model support")
                .hint("build it with the feature `model`"))
        }
        Command::Demo(args) => commands::demo::run(context, &args),
        Command::Incidents(args) => commands::incidents::run(context, &args),
        Command::Show(args) => commands::show::run(context, &args),
        Command::Explain(args) => commands::explain::run(context, &args),
        Command::Label(args) => commands::label::run(context, &args),
        Command::EnvDiff(args) => commands::env_diff::run(context, &args),
        Command::Profile(args) => commands::profile::run(context, &args),
        Command::Check(args) => commands::check::run(context, &args),
        Command::Approve(args) => commands::approve::run(context, &args),
        Command::Reject(args) => commands::reject::run(context, &args),
        Command::Note(args) => commands::note::run(context, &args),
        Command::Report(args) => commands::report::run(context, &args),
        Command::Review => review::run(context),
        Command::Undo(args) => commands::undo::run(context, &args),
        Command::Redo(args) => commands::redo::run(context, &args),
        Command::Rules(args) => commands::rules::run(context, &args),
        Command::Gc(args) => commands::gc::run(context, &args),
        Command::Export(args) => commands::export::run(context, &args),
        Command::Allow(args) => commands::allow::run(context, &args),
        Command::Contract(args) => commands::contract::run(context, &args),
        Command::Audit(args) => commands::audit::run(context, &args),
        Command::Limits => commands::limits::run(),
        Command::Freeze => commands::freeze::run(context, true),
        Command::Thaw => commands::freeze::run(context, false),
        Command::Notify(args) => commands::notify::run(context, &args),
        Command::Tick => commands::tick::run(context),
        Command::Doctor => commands::doctor::run(context),
        Command::Init(args) => commands::init::run(context, &args),
        Command::Cron(args) => commands::cron::run(context, &args),
        Command::Survey(args) => commands::survey::run(context, &args),
        Command::Memory(args) => commands::memory::run(context, &args),
        Command::Knowledge(args) => commands::knowledge::run(context, &args),
        Command::Stats(args) => commands::stats::run(context, &args),
        Command::Bench(args) => commands::bench::run(context, &args),
        Command::Generate(args) => commands::generate::run(&args),
    }
}

/// Help and version go to standard output; what is wrong with the command line is told in selfheal's own form.
fn usage(error: &clap::Error, args: &[OsString]) -> ExitCode {
    if !error.use_stderr() {
        commands::print(&error.to_string());
        return ExitCode::SUCCESS;
    }
    commands::tell(&CommandError::usage(usage_error(error)).hint(usage_hint(args)).to_string());
    exit(exit_code::USAGE)
}

/// What is wrong, in one line. The grammar's own advice is left out: it knows nothing of jobs.
fn usage_error(error: &clap::Error) -> String {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing".to_owned();
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let ends = ["Usage:", "tip:", "For more information"];
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let what: Vec<&str> = lines.take_while(|line| !ends.iter().any(|end| line.starts_with(end))).collect();
    what.join(" ")
}

/// The mistake that is made most is a job's command without the sign that it begins.
fn usage_hint(args: &[OsString]) -> &'static str {
    let without_sign = args.get(1).is_some_and(|word| word == "run") && !args.iter().any(|word| word == "--");
    match without_sign {
        true => "put -- in front of the job's command: selfheal run -- COMMAND [ARGUMENT …]",
        false => "selfheal --help, or selfheal COMMAND --help",
    }
}

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1))
}
