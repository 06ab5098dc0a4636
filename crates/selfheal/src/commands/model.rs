//! `selfheal model test`: whether the configured models can be asked, and what one small repair costs with each.

use selfheal_core::usage::money;

use super::{Ended, print};
use crate::cli::{LanguageModelArgs, LanguageModelCommand};
use crate::command_error::CommandError;
use crate::config::ModelSettings;
use crate::context::Context;
use crate::driver::model::{Server, Tried, reachable, try_sample};
use crate::exit_code;
use crate::terminal::clean;

/// Asks each model about a small failure that is built in, and prints a line for each.
///
/// # Errors
/// When no model is configured.
pub fn run(context: &Context, args: &LanguageModelArgs) -> Ended {
    let LanguageModelCommand::Test { .. } = &args.command;
    let Some(first) = &context.settings.model else {
        return Err(CommandError::usage("no language model is configured").hint(
            "selfheal init sets one; or add --model openai:NAME --model-url URL, or --model llama:FILE",
        ));
    };
    let (mut server, mut code) = (Server::default(), exit_code::OK);
    for settings in first.ladder() {
        let tried = tested(context, settings, &mut server);
        let usable = tried.as_ref().is_ok_and(|tried| tried.answer.is_ok());
        if !usable {
            code = exit_code::ERROR;
        }
        let told = tried.as_ref().map_or_else(|reason| format!("cannot be asked: {reason}"), told);
        let told = context.redactor().text(&format!("{}: {told}", settings.name));
        print(&format!("{}\n", clean(told.as_str())));
    }
    Ok(code)
}

fn tested(context: &Context, settings: &ModelSettings, server: &mut Server) -> Result<Tried, String> {
    if context.traffic.replay.is_none() {
        reachable(settings)?;
    }
    try_sample(context, settings, server)
}

fn told(tried: &Tried) -> String {
    let usage = &tried.usage;
    let calls = if usage.calls == 1 { "1 call".to_owned() } else { format!("{} calls", usage.calls) };
    let started = tried
        .started
        .map(|time| format!("; its server was ready in {:.1} s", time.as_secs_f64()))
        .unwrap_or_default();
    let what = match &tried.answer {
        Ok(strategy) => format!("a repair that can be tried ({})", strategy.trim_end_matches('.')),
        Err(reason) => format!("an answer that cannot be used: {reason}"),
    };
    format!(
        "{:.1} s and {} of money for a small incident, {calls}, {} tokens read and {} written{started}; {what}",
        tried.took.as_secs_f64(),
        money(usage.cost),
        usage.input_tokens,
        usage.output_tokens,
    )
}
