//! The table of what must not happen twice, and of what may.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{sql, started};
use crate::inner::look_through_words;
use crate::words::base;

/// What the table says of one command.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It must not happen twice; why, as it reads after the command's name.
    Once(String),
    /// The same, but only for what it does to files on this machine.
    Files(String),
    /// It may: it only reads, or a second time changes nothing.
    Again,
    /// The table does not know it.
    Unknown,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Commands that must not happen twice.
    once: Vec<Entry>,
    /// Commands that may.
    again: Vec<Entry>,
    /// Words in the names of commands that the table does not know which tell of something that must not happen twice.
    telling: Vec<String>,
    /// Words in the text of other languages that tell of something which must not happen twice.
    source: Vec<Source>,
    /// What programs of other languages may use.
    modules: Vec<Modules>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Modules {
    language: String,
    names: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Names of commands.
    command: Vec<String>,
    /// Sub-commands, of which one must be there; any when empty.
    #[serde(default)]
    sub: Vec<String>,
    /// Options of which one must be there (or begins a word, when it ends with `=`); any when empty.
    #[serde(default)]
    options: Vec<String>,
    /// Texts of which one must be in the arguments, in any case of letters; any when empty.
    #[serde(default)]
    texts: Vec<String>,
    /// Options of which none may be there.
    #[serde(default)]
    without: Vec<String>,
    /// Sub-commands of which none may come first.
    #[serde(default)]
    without_sub: Vec<String>,
    /// Unless its statements stand in its arguments and only read.
    #[serde(default)]
    unless_reading: bool,
    /// Only when the last word names another machine (`host:path`, `rsync://…`).
    #[serde(default)]
    remote_target: bool,
    /// Why, as it reads after the command's name.
    #[serde(default)]
    why: String,
    /// Whether it is about files on this machine alone.
    #[serde(default)]
    files: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    text: Vec<String>,
    why: String,
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("once.toml")).unwrap_or_default());

/// What the table says of a command and its arguments.
pub fn judge(words: &[String]) -> Verdict {
    if words.iter().any(|word| word == ">>") {
        return Verdict::Once("appends to a file".into());
    }
    let inner = look_through_words(words);
    // Becoming another user counts whatever is run as that user.
    let outer = words.get(..words.len().saturating_sub(inner.len())).unwrap_or_default();
    if let Some(word) =
        outer.iter().find(|word| matches!(base(word), "sudo" | "doas" | "su" | "runuser" | "pkexec"))
    {
        return Verdict::Once(format!("runs as another user ({})", base(word)));
    }
    let Some((name, arguments)) = inner.split_first() else { return Verdict::Unknown };
    if let Some(commands) = started::by(base(name), arguments) {
        return strictest(commands.iter().map(|words| judge(words)));
    }
    let fits = |entry: &&Entry| entry.fits(base(name), arguments);
    if let Some(entry) = TABLE.once.iter().find(fits) {
        return if entry.files {
            Verdict::Files(entry.why.clone())
        } else {
            Verdict::Once(entry.why.clone())
        };
    }
    if TABLE.again.iter().any(|entry| entry.fits(base(name), arguments)) {
        return Verdict::Again;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !base(name).chars().all(plain) {
        return Verdict::Unknown;
    }
    let telling = base(name)
        .split(|c: char| !c.is_ascii_alphanumeric())
        .find(|part| TABLE.telling.iter().any(|word| part.eq_ignore_ascii_case(word)));
    telling.map_or(Verdict::Unknown, |word| Verdict::Once(format!("by its name acts on others ({word})")))
}

/// The verdict on several commands: that on the one which forbids most.
pub fn strictest(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Again => 0,
        Verdict::Files(_) => 1,
        Verdict::Unknown => 2,
        Verdict::Once(_) => 3,
    };
    verdicts.max_by_key(rank).unwrap_or(Verdict::Again)
}

/// Whether programs of a language may use a module: it does nothing by itself that must not happen twice.
pub fn is_harmless_module(language: &str, name: &str) -> bool {
    let whole = |known: &&String| known.as_str() == name;
    let top = |known: &&String| language == "python" && Some(known.as_str()) == name.split('.').next();
    let of_language = TABLE.modules.iter().filter(|modules| modules.language == language);
    of_language.flat_map(|modules| &modules.names).any(|known| whole(&known) || top(&known))
}

/// What a line of another language than shell holds that must not happen twice.
pub fn in_source(line: &str) -> Option<String> {
    let trimmed = line.trim_start();
    if trimmed.starts_with('#') || trimmed.starts_with("//") {
        return None;
    }
    let lower = line.to_lowercase();
    let source =
        TABLE.source.iter().find(|source| source.text.iter().any(|text| lower.contains(text.as_str())))?;
    Some(source.why.clone())
}

impl Entry {
    fn fits(&self, name: &str, arguments: &[String]) -> bool {
        let words = || arguments.iter().map(String::as_str);
        let has =
            |options: &[String]| words().any(|word| options.iter().any(|option| is_option(word, option)));
        let text = || arguments.join(" ").to_lowercase();
        self.command.iter().any(|command| command == name)
            && (self.sub.is_empty()
                || words()
                    .filter(|word| !word.starts_with('-'))
                    .take(4)
                    .any(|word| self.sub.iter().any(|sub| is_sub(word, sub))))
            && (self.without_sub.is_empty() || !self.comes_first(arguments))
            && !(self.unless_reading && sql::only_reads(name, arguments))
            && (self.options.is_empty() || has(&self.options))
            && (!self.remote_target || arguments.last().is_some_and(|word| is_remote(word)))
            && (self.without.is_empty() || !has(&self.without))
            && (self.texts.is_empty() || {
                let text = text();
                self.texts.iter().any(|wanted| text.contains(wanted.as_str()))
            })
    }

    /// Whether the first word that is no option, nor the value of one, is one of `without_sub`.
    fn comes_first(&self, arguments: &[String]) -> bool {
        let is_word = |at: usize| {
            let valued = at.checked_sub(1).and_then(|before| arguments.get(before));
            !valued.is_some_and(|word| word.len() == 2 && word.starts_with('-'))
        };
        let first = arguments.iter().enumerate().find(|(at, word)| !word.starts_with('-') && is_word(*at));
        first.is_some_and(|(_, word)| self.without_sub.iter().any(|sub| word.eq_ignore_ascii_case(sub)))
    }
}

/// A whole word, or its beginning: `describe-*`.
fn is_sub(word: &str, sub: &str) -> bool {
    sub.strip_suffix('*').map_or(word == sub, |start| word.starts_with(start))
}

/// `host:path`, `user@host:path`, `rsync://host/path`; not `./a:b`.
fn is_remote(word: &str) -> bool {
    word.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

/// `--data`, `--data=x`, `-d`, `-dx`, and `-d` inside of `-sd`; a text without a dash is the beginning of a word.
fn is_option(word: &str, option: &str) -> bool {
    if !option.starts_with('-') {
        return word == option || option.ends_with(':') && word.contains(option);
    }
    if word == option || word.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')) {
        return true;
    }
    let letter = option.strip_prefix('-').filter(|letter| letter.chars().count() == 1);
    letter.is_some_and(|letter| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Verdict {
        judge(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_table_can_be_read() {
        let table: Table = toml::from_str(include_str!("once.toml")).unwrap();
        assert!(table.once.len() > 20 && table.again.len() > 5);
        assert!(table.once.iter().all(|entry| !entry.why.is_empty()));
    }

    #[test]
    fn writes_to_elsewhere_must_not_happen_twice() {
        for line in [
            "mail -s x y@z",
            "curl -fsS -X POST https://x",
            "curl -sd a=1 https://x",
            "curl --data-binary=@f https://x",
            "curl -T f ftp://x",
            "wget --post-data=x https://x",
            "ssh host uptime",
            "scp f host:/x",
            "rsync -a f host:/x",
            "git push origin main",
            "psql -c INSERT db",
            "kubectl apply -f x",
            "terraform apply",
            "systemctl restart x",
            "docker run x",
            "aws s3 cp a s3://b",
            "sudo ls",
            "nice sendmail x",
            "echo x >> f",
            "./notify-team x",
            "psql db",
            "psql -f load.sql",
            "psql -c select*from*charge(1)",
            "mysql -e REPLACE;x",
            "redis-cli -n 3 del get",
            "aws secretsmanager rotate-secret --secret-id widget-list",
            "curl -fsS https://ci/job/deploy/build?token=x",
            "logger x",
            "xargs -n 1 mail -s x",
            "find . -name x -exec mail -s {} y ;",
            "kubectl cp f pod:/f",
        ] {
            assert!(!matches!(of(line), Verdict::Again | Verdict::Files(_)), "{line}");
        }
    }

    #[test]
    fn reading_may_happen_again() {
        for line in [
            "curl -fsS https://x",
            "wget -q https://x",
            "ping -c 1 x",
            "dig x",
            "rsync -a host:/x f",
            "git fetch origin",
            "pip download x",
            "aws s3 ls",
            "kubectl get pods",
            "grep x f",
            "redis-cli -h x get y",
            "psql -c select*from*t",
            "sqlite3 x.db select*from*t",
            "aws ec2 describe-instances",
            "xargs -0 -n 1 grep x",
            "find . -exec grep -l x {} +",
        ] {
            assert_eq!(of(line), Verdict::Again, "{line}");
        }
        assert_eq!(of("SEND=send.lock"), Verdict::Unknown);
        assert_eq!(of("release: x"), Verdict::Unknown);
        assert_eq!(of("frobnicate x"), Verdict::Unknown);
    }
}
