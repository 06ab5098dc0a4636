//! `selfheal label`: lists the failures that no parser understood, and says what one of them is, in the form of the corpus.

use super::{Ended, print};
use crate::cli::LabelArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::terminal::clean;
use crate::unparsed;

/// Lists, shows or labels.
///
/// # Errors
/// When there is no such failure, or it cannot be written.
pub fn run(context: &Context, args: &LabelArgs) -> Ended {
    let Some(word) = &args.id else {
        list(context);
        return Ok(exit_code::OK);
    };
    let name = find(context, word)?;
    let mut kept = unparsed::read(&context.state, &name)?;
    let before = kept.clone();
    if let Some(class) = args.class {
        kept.expect.class = Some(class.class().word().to_owned());
    }
    if let Some(place) = &args.place {
        let (file, line) = place_of(place)?;
        kept.expect.file = Some(file);
        kept.expect.line = Some(line);
    }
    if let Some(text) = &args.core_error {
        if !kept.output.contains(text.as_str()) {
            return Err(CommandError::usage("the core error is no part of the output")
                .hint(format!("selfheal label {word} shows it")));
        }
        kept.expect.core_error = Some(text.clone());
    }
    kept.version = args.version.clone().or(kept.version);
    if kept == before {
        print(&format!(
            "{}\n{}\n",
            clean(&kept.command),
            kept.output.lines().map(clean).collect::<Vec<_>>().join("\n")
        ));
        return Ok(exit_code::OK);
    }
    unparsed::keep(&context.state, &name, &kept)?;
    let file = unparsed::path(&context.state, &name).display().to_string();
    print(&format!("{}\n", context.texts().say("labelled", &[("file", &file)])));
    Ok(exit_code::OK)
}

fn list(context: &Context) {
    let names = unparsed::names(&context.state);
    let texts = context.texts();
    if names.is_empty() {
        print(&format!("{}\n", texts.say("label-none", &[])));
        return;
    }
    for name in names.iter().rev() {
        let Ok(kept) = unparsed::read(&context.state, name) else { continue };
        let label = kept.expect.class.unwrap_or_else(|| "-".to_owned());
        let short = name.rsplit('-').next().unwrap_or(name);
        let command: String = clean(&kept.command).chars().take(60).collect();
        print(&format!("{short}  {label:<11}  {:>3}  {command}\n", kept.exit_code));
    }
}

/// The only one whose name ends so.
fn find(context: &Context, word: &str) -> Result<String, CommandError> {
    let names = unparsed::names(&context.state);
    let mut fits = names.into_iter().filter(|name| name.ends_with(word));
    match (fits.next(), fits.next()) {
        (Some(name), None) => Ok(name),
        (None, _) => Err(CommandError::new(format!("no output that was not understood is kept as {word}"))
            .hint("selfheal label lists them")),
        (Some(_), Some(_)) => {
            Err(CommandError::new(format!("several outputs end with {word}")).hint("give more of its name"))
        }
    }
}

/// `FILE:LINE`.
fn place_of(place: &str) -> Result<(String, u32), CommandError> {
    let parts = place.rsplit_once(':').and_then(|(file, line)| Some((file.to_owned(), line.parse().ok()?)));
    parts
        .filter(|(file, line)| !file.is_empty() && *line > 0)
        .ok_or_else(|| CommandError::usage(format!("{place}: not a place")).hint("--at FILE:LINE"))
}
