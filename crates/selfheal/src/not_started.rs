//! A command that could not be started can say nothing itself: one error and one hint for each way.

use std::path::Path;

use selfheal_core::job::Job;
use selfheal_core::run::Ended;
use selfheal_core::scene::Scene;
use selfheal_exec::LiveScene;

use crate::context::Context;
use crate::terminal::clean;

/// What to tell of a run that never began; `None` where it did.
#[must_use]
pub fn told(context: &Context, job: &Job, ended: &Ended) -> Option<String> {
    let name = job.argv.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let (what, hint) = match ended {
        Ended::NotFound => ("there is no such command".to_owned(), not_found(context, job, &name)),
        Ended::InterpreterMissing { interpreter } => {
            (format!("its interpreter {interpreter} is not there"), "mend its first line".to_owned())
        }
        Ended::NotExecutable { reason } => {
            (format!("it cannot be executed: {reason}"), not_executable(&job.cwd.join(&name), &name, reason))
        }
        Ended::NotStarted { reason } => (
            format!("it could not be started: {reason}"),
            format!("look at the folder {}", job.cwd.display()),
        ),
        Ended::Exited(_) | Ended::Signaled(_) | Ended::TimedOut { .. } | Ended::Cancelled { .. } => {
            return None;
        }
    };
    Some(format!("error: {}: {}\nhint: {}", clean(&name), clean(&what), clean(&hint)))
}

fn not_found(context: &Context, job: &Job, name: &str) -> String {
    if name.contains('/') {
        return match Path::new(name).is_absolute() {
            true => "look at the path".to_owned(),
            false => format!("look at the path; it is taken from {}", job.cwd.display()),
        };
    }
    let scene = LiveScene::new(job.cwd.clone(), context.env.clone(), None);
    match scene.which(name).first() {
        Some(place) => format!("it is {}, and that folder is not in PATH", place.display()),
        None if job.cwd.join(name).is_file() => format!("for the file in this folder, say ./{name}"),
        None => "look at its name and at PATH".to_owned(),
    }
}

fn not_executable(file: &Path, name: &str, reason: &str) -> String {
    if file.is_dir() {
        return "it is a folder: name the command in it".to_owned();
    }
    match reason {
        "Permission denied" => format!("chmod +x {name}, or name its interpreter"),
        "Too many levels of symbolic links" => "mend the links, which lead to each other".to_owned(),
        _ => "look what kind of file it is, and for which machine".to_owned(),
    }
}
