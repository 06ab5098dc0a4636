//! `selfheal profile`: shows, checks and proposes what the exit codes of commands mean.

use std::path::{Path, PathBuf};

use selfheal_feedback::profiles::{Profiles, Trust, learn};

use super::{Ended, print, tell};
use crate::cli::{ProfileArgs, ProfileCommand};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::examples::{self, Standing};
use crate::exit_code;
use crate::profiles;
use crate::terminal::clean;

/// Does what was asked.
///
/// # Errors
/// When a command has no profile, a table is wrong, or nothing could be learned.
pub fn run(context: &Context, args: &ProfileArgs) -> Ended {
    match &args.command {
        ProfileCommand::Show { command } => show(context, command),
        ProfileCommand::Test { file: Some(file) } => test_file(&context.cwd.join(file)),
        ProfileCommand::Test { file: None } => test_all(context),
        ProfileCommand::Learn { command, write } => learn(context, command, *write),
        ProfileCommand::Accept { file } => accept(context, file),
    }
}

fn show(context: &Context, command: &str) -> Ended {
    let (profiles, complaints) = profiles::load(context);
    for complaint in complaints {
        tell(&format!("selfheal: {complaint}"));
    }
    let version = profiles::with_scene(context, |scene| profiles::version_of(&context.state, command, scene));
    let text = profiles.describe(command, version.as_deref());
    if text.is_empty() {
        return Err(CommandError::new(format!("there is no profile of {command}"))
            .hint(format!("selfheal profile learn {command}")));
    }
    for line in text.lines() {
        print(&format!("{}\n", clean(line)));
    }
    if let Some(version) = version {
        print(&format!("here: {}\n", clean(&version)));
    }
    let standing = examples::standing(context, &profiles, &crate::boxes::runner(context), command);
    print(&format!("{}\n", standing.line()));
    Ok(exit_code::OK)
}

fn test_file(file: &Path) -> Ended {
    let text = std::fs::read_to_string(file).map_err(|error| {
        CommandError::new(format!("failed to read {}", file.display()))
            .because(&error)
            .hint("name a file with profiles: docs/profiles.md has the form")
    })?;
    let trust = match file.file_name() {
        Some(name) if name == profiles::PROJECT_FILE => Trust::Project,
        _ => Trust::Owner,
    };
    let mut all = Profiles::builtin();
    let loosening = all.add(&text, &file.display().to_string(), trust).map_err(|error| {
        CommandError::new(format!("failed to {error}")).hint("docs/profiles.md has the form")
    })?;
    if loosening > 0 {
        print(&format!(
            "{loosening} codes are called harmless, which a project's file cannot do: they do not count\n"
        ));
    }
    let names = all.own_commands();
    let what = if names.is_empty() { "nothing that is accepted".to_owned() } else { names.join(", ") };
    print(&format!("{}: good: {}\n", file.display(), clean(&what)));
    Ok(exit_code::OK)
}

fn test_all(context: &Context) -> Ended {
    let (profiles, complaints) = profiles::load(context);
    let files = profiles::files(context).len() - complaints.len().min(profiles::files(context).len());
    let examples = profiles.check().map_err(|error| CommandError::new(format!("failed to {error}")))?;
    print(&format!(
        "good: {} commands, {examples} examples, {files} files besides the shipped ones\n",
        profiles.commands().len()
    ));
    let broken = try_examples(context, &profiles);
    if broken > 0 {
        return Err(CommandError::new(format!(
            "the profiles of {broken} commands do not fit what is on this machine"
        ))
        .hint("write a profile of your own with versions = …: docs/profiles.md has the form"));
    }
    match complaints.is_empty() {
        true => Ok(exit_code::OK),
        false => {
            Err(CommandError::new(complaints.join("; "))
                .hint("mend the file, then selfheal profile test FILE"))
        }
    }
}

/// Runs the examples of all commands that are here and can be tried; returns how many commands differ.
fn try_examples(context: &Context, profiles: &Profiles) -> usize {
    let boxes = crate::boxes::runner(context);
    let (mut verified, mut broken, mut missing, mut untried) = (0, 0, Vec::new(), Vec::new());
    for command in profiles.tryable() {
        let standing = examples::standing(context, profiles, &boxes, &command);
        match &standing {
            Standing::Tried(found) if found.broken.is_empty() => verified += 1,
            Standing::Tried(_) => {
                broken += 1;
                print(&format!("{}: {}\n", clean(&command), standing.line()));
            }
            Standing::NotHere => missing.push(command),
            Standing::NotTried(why) => untried.push(format!("{command} ({why})")),
            Standing::NothingToTry => {}
        }
    }
    print(&format!("verified by running their examples here: {verified} commands\n"));
    for (what, names) in [("not on this machine", missing), ("not verified", untried)] {
        if !names.is_empty() {
            print(&format!("{what}: {}\n", clean(&names.join(", "))));
        }
    }
    broken
}

/// Prints the part of a manual page that is about exit codes. A whole page may be longer than what is kept of an answer.
const MANUAL: &str =
    r#"man -P cat "$1" 2>/dev/null | sed -n '/^\(EXIT\|RETURN\|DIAGNOSTICS\)/,/^[A-Z][A-Z]/p'"#;

fn learn(context: &Context, command: &str, write: bool) -> Ended {
    let name =
        Path::new(command).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let told = profiles::with_scene(context, |scene| {
        let help = scene.ask(&[command, "--help"]).unwrap_or_default();
        let page = scene.ask(&["sh", "-c", MANUAL, "sh", &name]).unwrap_or_default();
        let mut codes = learn::told_codes(&page);
        for (code, told) in learn::told_codes(&help) {
            codes.entry(code).or_insert(told);
        }
        codes
    });
    let text = learn::proposal(&name, &told).ok_or_else(|| {
        CommandError::new(format!("{command} says nothing of its exit codes that could be read"))
            .hint("write a profile yourself: docs/profiles.md has the form")
    })?;
    if !write {
        print(&text);
        return Ok(exit_code::OK);
    }
    let file = learned(context, &name);
    save(&file, &text, false)?;
    print(&format!("{}\nread it, then: selfheal profile accept {}\n", file.display(), clean(&name)));
    Ok(exit_code::OK)
}

/// Where what was learned of a command lies.
fn learned(context: &Context, name: &str) -> PathBuf {
    profiles::own_folder(context).join(format!("learned-{name}.toml"))
}

/// What was learned counts from now on; it is checked first.
fn accept(context: &Context, file: &Path) -> Ended {
    let given = context.cwd.join(file);
    let path = match given.is_file() {
        true => given,
        false => learned(context, &file.to_string_lossy()),
    };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        CommandError::new(format!("failed to read {}", path.display()))
            .because(&error)
            .hint("selfheal profile learn COMMAND --write proposes one")
    })?;
    let (accepted, count) = learn::accepted(&text);
    if count == 0 {
        return Err(CommandError::new(format!("nothing in {} waits to be accepted", path.display()))
            .hint("look at it with: selfheal profile test FILE"));
    }
    Profiles::with_user(&accepted, &path.display().to_string()).map_err(|error| {
        CommandError::new(format!("failed to {error}")).hint("docs/profiles.md has the form")
    })?;
    let folder = profiles::own_folder(context);
    let target = match path.parent() {
        Some(parent) if parent == folder => path.clone(),
        _ => folder.join(path.file_name().unwrap_or_default()),
    };
    save(&target, &accepted, target == path)?;
    print(&format!("{}: it counts from now on\n", target.display()));
    Ok(exit_code::OK)
}

/// Writes a table, whole or not at all; one that is there is kept unless it is to be replaced.
fn save(file: &Path, text: &str, replace: bool) -> Result<(), CommandError> {
    let failed = |error: &std::io::Error| {
        CommandError::new(format!("failed to write {}", file.display()))
            .because(error)
            .hint("move away what is there, or look at the folder")
    };
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(&error))?;
    std::io::Write::write_all(&mut new, text.as_bytes()).map_err(|error| failed(&error))?;
    let written = if replace { new.persist(file) } else { new.persist_noclobber(file) };
    written.map(drop).map_err(|error| failed(&error.error))
}
