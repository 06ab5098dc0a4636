//! Archives and trees of sources that come from the network, and what is run out of them.

use selfheal_core::admission::Danger::High;
use selfheal_syntax::shell::{Command, Word};

use super::Walk;
use super::rules::has_letter;

/// Ends of the names of archives, longest first.
const ARCHIVES: &[&str] =
    &[".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tbz2", ".tar", ".zip", ".7z", ".whl"];

/// Programs that unpack an archive.
const UNPACKERS: &[&str] = &["tar", "bsdtar", "unzip", "7z", "cpio", "unrar", "gtar"];

/// Programs that run what lies in the folder that they are started in.
const BUILDERS: &[&str] = &["make", "gmake", "ninja", "cmake", "rake", "npm", "yarn", "pnpm", "pip", "pip3"];

impl Walk<'_> {
    /// Whether a program lies in what was fetched.
    pub(super) fn was_fetched(&self, name: &str) -> bool {
        let plain = name.trim_start_matches("./");
        let below = plain.split_once('/').is_some_and(|(folder, _)| self.is_fetched_folder(folder));
        let folders = || self.fetched_folders.iter().any(|folder| name.starts_with(&format!("{folder}/")));
        self.fetched.iter().any(|file| file == name)
            || below
            || folders()
            || (self.in_fetched && name.contains('/') && !name.starts_with('/'))
    }

    /// Whether a folder is one that was fetched: it is named so, or as its archive with a version behind it.
    pub(super) fn is_fetched_folder(&self, name: &str) -> bool {
        let plain = name.trim_start_matches("./").trim_end_matches('/');
        !plain.is_empty() && self.fetched_folders.iter().any(|folder| folder == plain)
    }

    /// `make`, `npm install` in a folder that was fetched runs what somebody else wrote there.
    pub(super) fn builds_fetched(&mut self, name: &str, texts: &[String], (line, subject): (u32, &str)) {
        let elsewhere = texts
            .windows(2)
            .any(|pair| matches!(pair, [option, folder] if option == "-C" && self.is_fetched_folder(folder)));
        if BUILDERS.contains(&name) && (self.in_fetched || elsewhere) {
            self.hit((line, subject), High, "danger/fetched-code", "it builds or runs what it fetched");
        }
    }

    /// Remembers the folder that an archive from the network, or a clone, makes. `piped` says that the archive comes
    /// straight from the network.
    pub(super) fn unpack_fetched(&mut self, command: &Command, piped: bool) {
        let words: Vec<String> = command.arguments().iter().filter_map(Word::literal).collect();
        let name = command.name().unwrap_or_default();
        let clones = matches!(name.as_str(), "git" | "hg") && words.iter().any(|word| word == "clone");
        if clones {
            let address = words.iter().position(|word| word.contains("://") || word.contains('@'));
            let Some(address) = address else { return };
            let folder = words.get(address + 1).or_else(|| words.get(address));
            let last = folder.and_then(|folder| folder.trim_end_matches('/').rsplit('/').next());
            self.remember(last.unwrap_or_default().trim_end_matches(".git"));
        } else if UNPACKERS.contains(&name.as_str()) {
            let archive = words.iter().find(|word| self.fetched.contains(word)).cloned();
            if archive.is_none() && !piped {
                return;
            }
            let into = words.windows(2).find_map(|pair| match pair {
                [option, folder]
                    if matches!(option.as_str(), "-d" | "-C")
                        || option.starts_with('-') && has_letter(option, "C") =>
                {
                    Some(folder.clone())
                }
                _ => None,
            });
            into.iter().for_each(|folder| self.remember(folder));
            let known: Vec<String> = archive.into_iter().chain(self.fetched.clone()).collect();
            known.iter().filter_map(|name| stem(name)).for_each(|name| self.remember(name));
        }
    }

    /// Remembers the address of an archive that is written to a pipe.
    pub(super) fn remember_address(&mut self, words: &[String]) {
        let names =
            words.iter().filter(|word| word.contains("://")).filter_map(|word| word.rsplit('/').next());
        let stems: Vec<&str> = names.filter_map(stem).collect();
        stems.into_iter().for_each(|name| self.remember(name));
    }

    fn remember(&mut self, folder: &str) {
        let plain = folder.trim_start_matches("./").trim_end_matches('/');
        if !matches!(plain, "" | ".") && self.fetched_folders.len() < 64 {
            self.fetched_folders.push(plain.to_owned());
        }
    }
}

/// The name of an archive without its end.
fn stem(name: &str) -> Option<&str> {
    let name = name.rsplit('/').next().unwrap_or(name);
    ARCHIVES.iter().find_map(|end| name.strip_suffix(end)).filter(|stem| !stem.is_empty())
}
