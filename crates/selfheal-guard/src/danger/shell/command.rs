//! One command with its arguments: which program it is, and what that does.

use selfheal_core::admission::Danger;

use super::argv::Arg;
use super::places::Place;
use super::{Stdin, Walk, code, files, network, renamed, rules, wrappers};

impl Walk<'_> {
    /// Judges one argument list.
    pub(super) fn judge(&mut self, list: &[Arg], stdin: &Stdin, line: u32) {
        if !self.works(line) {
            return;
        }
        let Some((name, arguments)) = list.split_first() else { return };
        if renamed::judge(self, name, arguments, stdin, line) {
            return;
        }
        let Some(name) = self.program(name, line) else { return };
        if wrappers::unwrap(self, &name, arguments, stdin, line) {
            return;
        }
        let own_line = self.line.unwrap_or(line);
        if let Some(seen) = self.seen.as_mut().filter(|seen| seen.len() < 10_000) {
            let words = std::iter::once(name.clone()).chain(arguments.iter().map(Arg::spelled));
            seen.push((own_line, words.collect()));
        }
        let subject = list.iter().map(Arg::spelled).collect::<Vec<_>>().join(" ");
        let texts: Vec<String> = arguments.iter().map(Arg::spelled).collect();
        for class in rules::classes(&name, &texts) {
            self.hit((line, &subject), class.danger, class.rule, &format!("`{name}` {}", class.why));
        }
        renamed::remember(self, &name, arguments);
        self.builds_fetched(&name, &texts, (line, &subject));
        files::judge(self, &name, arguments, stdin, (line, &subject));
        code::judge(self, &name, arguments, stdin, (line, &subject));
        network::judge(self, &name, arguments, (line, &subject));
        self.secrets(&name, arguments, (line, &subject));
    }

    /// The name of the program without its folder; `None` when it was judged already because nobody knows it.
    pub(super) fn program(&mut self, name: &Arg, line: u32) -> Option<String> {
        let spelled = name.spelled();
        if let Some(known) = name.known() {
            let base = known.rsplit('/').next().unwrap_or(&known).to_owned();
            if base.contains(['*', '?', '[']) {
                self.hit(
                    (line, &known),
                    Danger::High,
                    "danger/hidden-command",
                    "a pattern stands where a command should",
                );
                return None;
            }
            if known.contains('/') {
                self.run_written(&known, selfheal_syntax::Language::Shell, (line, &known));
            }
            if self.was_fetched(&known) {
                self.hit(
                    (line, &known),
                    Danger::High,
                    "danger/fetched-code",
                    "it runs a file that it fetched",
                );
            }
            return Some(base);
        }
        // `"$VENV/bin/python"`: the folder is unknown, the program is not.
        if let Some((_, base)) =
            spelled.rsplit_once('/').filter(|(_, base)| !base.is_empty() && !base.contains('\u{1}'))
        {
            return Some(base.to_owned());
        }
        let (danger, why) = match name.value.pieces.as_slice() {
            [selfheal_syntax::values::Piece::Unknown(unknown)] if unknown.commands.is_none() => {
                match unknown.name.as_deref() {
                    Some("@" | "*") => (Danger::Medium, "it runs its own arguments as a command"),
                    Some(name) if name.starts_with(|c: char| c.is_ascii_digit()) => {
                        (Danger::Medium, "it runs an argument as a command")
                    }
                    _ => (Danger::Medium, "which command it runs is said by a variable from outside"),
                }
            }
            _ => (Danger::High, "which command it runs cannot be known"),
        };
        self.hit((line, &spelled), danger, "danger/hidden-command", why);
        None
    }

    pub(super) fn secrets(&mut self, name: &str, arguments: &[Arg], (line, subject): (u32, &str)) {
        const BLIND: &[&str] = &[
            "ls",
            "stat",
            "test",
            "[",
            "mkdir",
            "chmod",
            "chown",
            "du",
            "cd",
            "echo",
            "printf",
            "file",
            "ssh",
            "scp",
            "sftp",
            "git",
            "ssh-keygen",
            "ssh-agent",
            "export",
            "declare",
            "local",
            "readonly",
            "unset",
            "install",
            "touch",
            "ssh-add",
            "realpath",
            "readlink",
            "dirname",
            "basename",
            "rm",
            "find",
            "tree",
        ];
        if BLIND.contains(&name) {
            return;
        }
        if arguments.iter().any(|arg| self.places().of(&arg.value) == Place::Private) {
            self.hit(
                (line, subject),
                Danger::High,
                "danger/secrets",
                &format!("`{name}` touches keys, passwords or what runs by itself"),
            );
        }
    }
}
