//! What marks danger in lines of Perl, JavaScript and Ruby, as tables of patterns.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::Danger::{self, High, Medium};
use selfheal_syntax::Language;

/// One row: languages, pattern, danger, rule, why.
pub(super) struct Row(
    pub(super) &'static [Language],
    pub(super) &'static str,
    pub(super) Danger,
    pub(super) &'static str,
    pub(super) &'static str,
);

pub(super) const PERL: &[Language] = &[Language::Perl];

pub(super) const NODE: &[Language] = &[Language::Node];

pub(super) const RUBY: &[Language] = &[Language::Ruby];

pub(super) const ROWS: &[Row] = &[
    Row(PERL, r"\beval\s*[($\x22'a-z]", High, "danger/hidden-command", "it runs a text as program"),
    Row(
        PERL,
        r"^\s*(require|do)\s+[\x22'](/tmp/|https?:)",
        High,
        "danger/hidden-command",
        "it runs a program from elsewhere",
    ),
    Row(
        PERL,
        r"\bkill\s*\(?\s*['\x22]?-?\w+['\x22]?\s*,\s*-?1\b",
        High,
        "danger/signals",
        "it signals processes that are not its own",
    ),
    Row(
        PERL,
        r"\bIO::Socket|\bLWP::UserAgent|->post\(|\bNet::(SMTP|FTP)",
        High,
        "danger/network",
        "it opens a connection to another host",
    ),
    Row(
        PERL,
        r#"open\s*\(?[^;]*["'](\|-|-\|)["']|open\s*\(?[^;]*["']\s*\|"#,
        High,
        "danger/hidden-command",
        "it talks to a program by a pipe",
    ),
    Row(PERL, r"\bunlink\s*\(?\s*(glob|<)", Medium, "danger/delete", "it deletes files"),
    Row(PERL, r"\b(rmtree|remove_tree)\b", Medium, "danger/delete", "it deletes whole folders"),
    Row(
        PERL,
        r"\bfork\b[^;]*while|while\s*\(?1\)?[^;]*fork",
        High,
        "danger/exhaustion",
        "it starts itself again and again",
    ),
    Row(NODE, r"\beval\b", High, "danger/hidden-command", "it runs a text as program"),
    Row(
        NODE,
        r"\bnew\s+Function\s*\(|\bFunction\s*\(|vm\.run\w*\(",
        High,
        "danger/hidden-command",
        "it runs a text as program",
    ),
    Row(
        NODE,
        r#"method\s*:\s*["'](POST|PUT|DELETE|PATCH)|axios\.(post|put|delete|patch)\("#,
        High,
        "danger/sends",
        "it sends data to another host",
    ),
    Row(
        NODE,
        r"JSON\.stringify\(\s*process\.env",
        High,
        "danger/sends",
        "it gives the whole environment away",
    ),
    Row(
        NODE,
        r"process\.kill\(\s*-?1\b",
        High,
        "danger/signals",
        "it signals processes that are not its own",
    ),
    Row(
        NODE,
        r#"require\(\s*["'](net|dgram|tls)["']\s*\)"#,
        High,
        "danger/network",
        "it opens a connection to another host",
    ),
    Row(
        NODE,
        r"require\(\s*[^\x22'`)\s]",
        High,
        "danger/hidden-command",
        "it loads a module by a computed name",
    ),
    Row(
        NODE,
        r"\b(renameSync|rename|copyFileSync)\s*\(",
        Medium,
        "danger/overwrite",
        "it moves or overwrites files",
    ),
    Row(
        NODE,
        r"(for\s*\(\s*;\s*;\s*\)|while\s*\(\s*(true|1)\s*\))[^;]*\b(spawn|fork|exec)\w*\(",
        High,
        "danger/exhaustion",
        "it starts itself again and again",
    ),
    Row(
        NODE,
        r"(rm|rmSync|rmdir|rmdirSync|rimraf|rimraf\.sync|remove|emptyDir)\s*\(\s*[^;)]*homedir\(",
        High,
        "danger/delete",
        "it deletes what belongs to a person",
    ),
    Row(
        NODE,
        r"(unlinkSync|rmSync|rmdirSync|removeSync|emptyDirSync|emptyDir|\.rm|\.unlink|\.rmdir|\.remove|rimraf(\.sync)?)\s*\(",
        Medium,
        "danger/delete",
        "it deletes files",
    ),
    Row(
        RUBY,
        r"\b(instance_)?eval\b|\bclass_eval\b|\b(__|public_)?send(__)?\s*\(\s*[^:\s]",
        High,
        "danger/hidden-command",
        "it runs a text as program",
    ),
    Row(
        RUBY,
        r"\bloop\s*(\{|do)\s*fork|fork\s+while|while\s+true[^;]*fork",
        High,
        "danger/exhaustion",
        "it starts itself again and again",
    ),
    Row(
        RUBY,
        r"\.(delete_all|destroy_all|drop_table|truncate_tables|drop_database)\b",
        High,
        "danger/service-data",
        "it destroys data in a service",
    ),
    Row(RUBY, r"Process\.kill\b", High, "danger/signals", "it signals processes"),
    Row(
        RUBY,
        r"Net::HTTP(\.post|::Post|::Put|::Delete)|TCPSocket|UNIXSocket",
        High,
        "danger/sends",
        "it talks to another host",
    ),
    Row(
        RUBY,
        r"(FileUtils\.(rm|rm_r|rm_rf|remove\w*)|File\.(delete|unlink)|Dir\.(rmdir|delete))\b",
        Medium,
        "danger/delete",
        "it deletes files",
    ),
];

/// Calls whose strings are run by a shell, or as the words of one command.
pub(super) const RUNS: &str = r"\b(system|exec|execSync|execFile|execFileSync|spawn|spawnSync|popen|qx|IO\.popen|Open3\.\w+|capture2e?|fork_exec)\b|%x|`";

/// Calls that write or delete the files that their strings name.
pub(super) const TOUCHES: &str = r"\b(unlink|unlinkSync|rm|rmSync|rmdir|rmdirSync|rm_rf|rm_r|rmtree|remove_tree|removeSync|emptyDir\w*|writeFile\w*|appendFile\w*|createWriteStream|truncate\w*|rename\w*|rimraf(\.sync)?|remove_dir|remove_tree|outputFile\w*|chmod\w*|chown\w*|copyFile\w*|symlink\w*|open|write|File|Dir|FileUtils|Pathname|glob|remove_entry\w*)\b";

/// The rows, and what marks a line that runs or touches something, compiled once.
pub(super) type Patterns = (Vec<(Regex, &'static Row)>, Option<Regex>, Option<Regex>);

pub(super) fn patterns() -> &'static Patterns {
    static ONCE: OnceLock<Patterns> = OnceLock::new();
    ONCE.get_or_init(|| {
        let rows = ROWS.iter().filter_map(|row| Regex::new(row.1).ok().map(|regex| (regex, row))).collect();
        (rows, Regex::new(RUNS).ok(), Regex::new(TOUCHES).ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(ROWS.iter().all(|row| Regex::new(row.1).is_ok()));
        assert!(Regex::new(RUNS).is_ok() && Regex::new(TOUCHES).is_ok());
    }
}
