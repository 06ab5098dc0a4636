//! systemd timers, read from unit files and their drop-ins; nothing is asked of systemd.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::cron::places::files_in;

/// Where units are, the stronger first. Source: systemd.unit(5).
const FOLDERS: [&str; 5] = [
    "etc/systemd/system",
    "run/systemd/system",
    "usr/local/lib/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
];

/// One unit: the values of each key, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    values: BTreeMap<String, Vec<String>>,
}

/// A timer with the service that it starts.
#[derive(Clone, Debug)]
pub struct Timer {
    /// The timer's file.
    pub file: PathBuf,
    /// The name without `.timer`.
    pub name: String,
    /// When.
    pub schedule: String,
    /// The service's name.
    pub service: String,
    /// The commands, without systemd's own signs before them; whether failures of it are ignored.
    pub commands: Vec<(String, bool)>,
    /// The user.
    pub user: String,
    /// The units that are started when it fails.
    pub on_failure: Vec<String>,
}

impl Unit {
    /// Reads a unit file, or more of the same unit.
    pub fn read(&mut self, text: &str) {
        let joined = text.replace("\\\n", " ");
        for line in joined.lines().map(str::trim) {
            if line.starts_with(['#', ';', '[']) {
                continue;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let values = self.values.entry(key.trim().to_owned()).or_default();
            match value.trim() {
                // An empty value takes back what was said before.
                "" => values.clear(),
                value => values.push(value.to_owned()),
            }
        }
    }

    fn all(&self, key: &str) -> &[String] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    fn last(&self, key: &str) -> Option<&str> {
        self.all(key).last().map(String::as_str)
    }
}

/// The timers below a root: the machine's own and those of packages that are switched on.
#[must_use]
pub fn timers(root: &Path) -> Vec<Timer> {
    let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
    for folder in FOLDERS {
        for file in files_in(&root.join(folder)) {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.ends_with(".timer") && (folder.starts_with("etc") || wanted(root, &name)) {
                files.entry(name).or_insert(file);
            }
        }
    }
    files.into_iter().filter_map(|(name, file)| timer(root, &name, file)).collect()
}

fn wanted(root: &Path, name: &str) -> bool {
    FOLDERS
        .iter()
        .any(|folder| root.join(folder).join("timers.target.wants").join(name).symlink_metadata().is_ok())
}

fn timer(root: &Path, file_name: &str, file: PathBuf) -> Option<Timer> {
    let name = file_name.strip_suffix(".timer")?.to_owned();
    let timer = unit(root, file_name);
    let service = timer.last("Unit").map_or_else(|| format!("{name}.service"), str::to_owned);
    let unit = unit(root, &service);
    let times =
        ["OnCalendar", "OnBootSec", "OnStartupSec", "OnActiveSec", "OnUnitActiveSec", "OnUnitInactiveSec"];
    let schedule: Vec<String> = times
        .iter()
        .flat_map(|key| timer.all(key).iter().map(move |value| format!("{key}={value}")))
        .collect();
    let signs = ['@', '-', ':', '+', '!', '|'];
    let commands = unit.all("ExecStart").iter().map(|line| {
        let bare = line.trim_start_matches(signs);
        let ignored = line.get(..line.len() - bare.len()).is_some_and(|signs| signs.contains('-'));
        (bare.to_owned(), ignored)
    });
    Some(Timer {
        file,
        schedule: schedule.join(" "),
        commands: commands.collect(),
        user: unit.last("User").unwrap_or("root").to_owned(),
        on_failure: unit
            .all("OnFailure")
            .iter()
            .flat_map(|units| units.split_whitespace().map(str::to_owned))
            .collect(),
        name,
        service,
    })
}

/// A unit with its drop-ins; of a template's instance the template.
fn unit(root: &Path, name: &str) -> Unit {
    let template =
        name.split_once('@').and_then(|(stem, rest)| Some(format!("{stem}@.{}", rest.rsplit_once('.')?.1)));
    let names: Vec<&str> = [Some(name), template.as_deref()].into_iter().flatten().collect();
    let mut unit = Unit::default();
    let read = |unit: &mut Unit, file: &Path| {
        if let Ok(text) = std::fs::read_to_string(file) {
            unit.read(&text);
        }
    };
    let places = FOLDERS.iter().flat_map(|folder| names.iter().map(move |name| root.join(folder).join(name)));
    if let Some(file) = places.into_iter().find(|file| file.is_file()) {
        read(&mut unit, &file);
    }
    for folder in FOLDERS.iter().rev() {
        for name in &names {
            for file in files_in(&root.join(folder).join(format!("{name}.d"))) {
                if file.extension().is_some_and(|ext| ext == "conf") {
                    read(&mut unit, &file);
                }
            }
        }
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_read_with_continuations_comments_and_resets() {
        let mut unit = Unit::default();
        unit.read("[Unit]\n# a\nOnFailure=x@%n.service\n[Service]\nExecStart=/bin/a \\\n  b\nUser = bob\n");
        assert_eq!(unit.all("ExecStart"), ["/bin/a    b"]);
        unit.read("[Service]\nExecStart=\nExecStart=-/bin/c\n");
        assert_eq!(unit.all("ExecStart"), ["-/bin/c"]);
        assert_eq!((unit.last("User"), unit.last("OnFailure")), (Some("bob"), Some("x@%n.service")));
    }
}
