//! The trial of a new script: in a box, whose effects are shown and thrown away.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use selfheal_core::effects::{Change, Effect};
use selfheal_core::ports::{BoxOrder, Boxes, Clock};
use selfheal_core::verification::{Check, SceneEdit};
use selfheal_guard::scope::Roots;

use super::Need;
use crate::context::Context;
use crate::contract::{AfterBoxed, Contract};
use crate::tasks::worker::script_command;

/// Effects that are shown.
const MOST: usize = 200;
/// Characters of the end of its output that are shown.
const ENDS: usize = 1_000;
/// Bytes kept of each end of each stream.
const KEEP: usize = 16 * 1024;

/// What a trial showed.
pub struct Trial {
    /// What it did to files, a line each.
    pub effects: Vec<String>,
    /// What it wrote last.
    pub said: String,
    /// Why it shows less than a real run would.
    pub doubt: Option<String>,
}

/// Runs a script in a box.
///
/// # Errors
/// When it did not do what it should: for the model to mend.
pub fn try_out(context: &Context, need: &Need<'_>, script: &str) -> Result<Trial, String> {
    let ending = if need.language == "python" { "py" } else { "sh" };
    let temp = context.var("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let file = temp.join(format!("selfheal-trial-{}.{ending}", context.clock.fresh_id()));
    let contract = Contract {
        checks: need.outputs.iter().map(|path| Check::Exists { path: path.clone() }).collect(),
        ..Contract::default()
    };
    let order = BoxOrder {
        argv: script_command(need.language, file.clone()),
        cwd: need.folder.to_owned(),
        env: environment(context),
        setup: vec![SceneEdit::Write { path: file.clone(), content: script.into(), mode: Some(0o644) }],
        deadline_ms: context.settings.limits.trial_ms,
        script: Some(file.clone()),
        keep: KEEP,
        ..BoxOrder::default()
    };
    let boxed = match crate::boxes::runner(context).run(&order) {
        Ok(boxed) => boxed,
        Err(error) => {
            let doubt = Some(format!(
                "it could not be tried: {}",
                crate::command_error::CommandError::from(error).one_line()
            ));
            return Ok(Trial { effects: Vec::new(), said: String::new(), doubt });
        }
    };
    let said = |stream: &selfheal_core::run::Capture| {
        let text = context.redactor().text(stream.text().trim_end()).as_str().to_owned();
        let skip = text.chars().count().saturating_sub(ENDS);
        text.chars().skip(skip).collect::<String>()
    };
    let code = boxed.run.ended.code();
    let network = boxed.network_tries > 0;
    if boxed.inconclusive.is_none() && !network {
        if code != 0 {
            return Err(format!("in a trial it ended with exit code {code}: {}", said(&boxed.run.stderr)));
        }
        if let Some(broken) = contract.broken(&AfterBoxed { cwd: need.folder, boxed: &boxed }) {
            return Err(format!("in a trial it ended well, but {broken}"));
        }
    }
    let own = |effect: &&Effect| effect.path != file && Some(effect.path.as_path()) != file.parent();
    let roots = need.roots();
    let outside = boxed.effects.iter().filter(own).find(|effect| !is_within(need, &roots, &effect.path));
    if let Some(outside) = outside {
        let path = crate::terminal::shown_path(&outside.path);
        return Err(format!(
            "in a trial it changed {path}, which lies outside of its folder and which nobody named"
        ));
    }
    let network = network.then(|| "it tried to use a network, which a box has none of".to_owned());
    let effects: Vec<String> =
        boxed.effects.iter().filter(own).take(MOST).map(|effect| line(need, effect)).collect();
    let printed: Vec<String> = [&boxed.run.stdout, &boxed.run.stderr]
        .into_iter()
        .map(said)
        .filter(|text| !text.is_empty())
        .collect();
    let nothing = (effects.is_empty() && printed.is_empty())
        .then(|| "it neither changed a file nor printed anything in a trial".to_owned());
    let doubt = boxed.inconclusive.clone().or(network).or(nothing);
    Ok(Trial { effects, said: printed.join("\n"), doubt })
}

/// Whether a script may change a path: one of its folder, one that was named or a folder on the way to it, a temporary one.
fn is_within(need: &Need<'_>, roots: &Roots, path: &Path) -> bool {
    let temporary = ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|folder| path.starts_with(folder));
    let leads_there = need.outputs.iter().any(|output| output.starts_with(path));
    temporary || leads_there || roots.hold(path)
}

fn line(need: &Need<'_>, effect: &Effect) -> String {
    let word = match effect.change {
        Change::Created => "created",
        Change::CreatedFolder => "created folder",
        Change::Changed => "changed",
        Change::Appended => "appended to",
        Change::Attributes => "changed the attributes of",
        Change::Deleted => "deleted",
    };
    let path = effect.path.strip_prefix(need.folder).unwrap_or(&effect.path);
    format!("{word} {}", crate::terminal::shown_path(path))
}

/// A clean environment: generated scripts always get one.
fn environment(context: &Context) -> BTreeMap<OsString, OsString> {
    let kept = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ"];
    let mut env: BTreeMap<OsString, OsString> = kept
        .iter()
        .filter_map(|name| Some((OsString::from(name), context.env.get(OsStr::new(name))?.clone())))
        .collect();
    env.insert("TMPDIR".into(), PathBuf::from("/tmp").into());
    env
}
