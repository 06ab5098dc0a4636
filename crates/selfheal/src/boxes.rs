//! The boxes of this machine, as the settings want them.

use std::path::{Path, PathBuf};

use selfheal_exec::{BoxConfig, BoxRunner};

use crate::config::{BoxSettings, LowestRung};
use crate::context::Context;

/// Runs commands in boxes of this machine.
#[must_use]
pub fn runner(context: &Context) -> BoxRunner {
    BoxRunner::new(config(context))
}

/// How boxes are made.
#[must_use]
pub fn config(context: &Context) -> BoxConfig {
    let settings = &context.settings.boxes;
    BoxConfig {
        program: context.program.clone(),
        store: context.state.join("boxes"),
        hidden: vec![context.state.clone()],
        secrets: settings
            .hide
            .iter()
            .map(|path| in_any_home(path))
            .chain(crate::notify::secret_files(&context.settings.notify))
            .collect(),
        see: seen(settings, context.env.get(std::ffi::OsStr::new("HOME")).map(Path::new)),
        lowest: (settings.rung == LowestRung::Overlay).then(|| "overlay".to_owned()),
        ..BoxConfig::default()
    }
}

/// A path that is relative to every home, or absolute.
fn in_any_home(path: &str) -> PathBuf {
    PathBuf::from(path.strip_prefix("~/").unwrap_or(path))
}

fn seen(settings: &BoxSettings, home: Option<&Path>) -> Vec<PathBuf> {
    let absolute = |path: &String| {
        let path = in_any_home(path);
        if path.is_absolute() { Some(path) } else { home.map(|home| home.join(path)) }
    };
    settings.see.iter().filter_map(absolute).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layer, Options, Origin, resolve};

    fn layer(origin: Origin, text: &str) -> Layer {
        let options = Options::parse(text, &mut Vec::new()).unwrap();
        Layer { origin, path: "x.toml".into(), options }
    }

    #[test]
    fn a_project_may_hide_more_and_demand_more_and_show_nothing() {
        let user = layer(Origin::User, "[box]\nhide = [\"~/.a\"]\nsee = [\"~/.npmrc\", \"/etc/key\"]\n");
        let project =
            layer(Origin::Project, "[box]\nrung = \"overlay\"\nhide = [\"/srv/b\"]\nsee = [\"~/.ssh\"]\n");
        let boxes = resolve(&[user, project]).boxes;
        assert_eq!(boxes.rung, LowestRung::Overlay);
        assert_eq!(boxes.hide, ["~/.a", "/srv/b"]);
        assert_eq!(
            seen(&boxes, Some(Path::new("/home/me"))),
            [Path::new("/home/me/.npmrc"), Path::new("/etc/key")]
        );
        let user = layer(Origin::User, "[box]\nrung = \"overlay\"\n");
        let project = layer(Origin::Project, "[box]\nrung = \"copy\"\n");
        assert_eq!(resolve(&[user, project]).boxes.rung, LowestRung::Overlay);
        assert_eq!(resolve(&[]).boxes.rung, LowestRung::Copy);
    }
}
