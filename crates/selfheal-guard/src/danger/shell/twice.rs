//! The second reading: what another parser sees in the same text is judged as well, and the stricter verdict counts.
//!
//! The readings are compared by their commands. Where they are the same nothing more is to be done; where they differ, the
//! second one is judged like the first, and what only it holds is added: a reading never lowers anything. A text that
//! only one parser can read is at least *medium*.

use selfheal_core::admission::Danger;
use selfheal_syntax::shell::Script;
use selfheal_syntax::shell::second::{self, Reading};

use super::{KEPT_BYTES, KEPT_SCRIPTS, Operation, Stdin, Walk};

/// Why a text is at least medium that only one parser reads.
const READ_ONCE: &str = "only one of two parsers can read the text";

impl Walk<'_> {
    /// Reads a text with the second parser too, and judges that reading where it is another one.
    pub(super) fn again(&mut self, first: &Script, text: &str, stdin: &Stdin, line: Option<u32>) {
        // No reading makes more of it than high.
        let settled = self.seen.is_none() && self.out.iter().any(|one| one.danger == Danger::High);
        if settled || plain(text) {
            return;
        }
        match second::reading(text) {
            None => self.hit((line.unwrap_or(1), ""), Danger::Medium, "danger/read-once", READ_ONCE),
            Some(reading) if reading.agrees_with(first) => {
                if self.depth > 1 && text.len() <= KEPT_BYTES && self.agreed.len() < KEPT_SCRIPTS {
                    self.agreed.insert(text.to_owned());
                }
            }
            Some(reading) => self.other(&reading, stdin, line),
        }
    }

    /// Judges the second reading, and adds what the first does not hold.
    fn other(&mut self, reading: &Reading, stdin: &Stdin, line: Option<u32>) {
        let Ok(script) = Script::parse(reading.text()) else {
            return self.hit((line.unwrap_or(1), ""), Danger::Medium, "danger/read-once", READ_ONCE);
        };
        let (known, seen) = (self.out.len(), self.seen.as_ref().map_or(0, Vec::len));
        self.judged(&script, reading.text(), stdin);
        let lined = |at: u32| if self.line.is_none() { reading.original_line(at) } else { at };
        let more: Vec<Operation> = self.out.drain(known.min(self.out.len())..).collect();
        let mut first: Vec<Operation> = self.out.clone();
        for one in more {
            let alike = first.iter().position(|other| other.same_as(&one) && other.danger >= one.danger);
            match alike {
                Some(at) => drop(first.swap_remove(at)),
                None => self.out.push(Operation { line: lined(one.line), ..one }),
            }
        }
        let commands = self.seen.iter_mut().flatten().skip(seen);
        let outermost = self.line.is_none();
        commands.filter(|_| outermost).for_each(|(line, _)| *line = reading.original_line(*line));
    }
}

/// Whether a text is nothing but words, which cannot be read in two ways.
fn plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" \n_-./,:+@%=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::danger::shell::operations;
    use crate::scope::Roots;

    fn worst(text: &str) -> Danger {
        let found = operations(text, &Roots::default()).unwrap();
        found.iter().map(|one| one.danger).max().unwrap_or(Danger::Low)
    }

    #[test]
    fn what_only_the_second_reading_holds_is_added_with_its_line_and_nothing_twice() {
        let roots = Roots::default();
        let mut walk = Walk::new(&roots);
        walk.text("git reset --hard\n", &Stdin::Nothing, None).unwrap();
        let second =
            second::reading("echo a\n\ngit reset --hard\nif b; then\n  rm -rf /opt/x\nfi\n").unwrap();
        walk.depth = 1;
        walk.other(&second, &Stdin::Nothing, None);
        let found: Vec<(u32, &str, Danger)> =
            walk.out.iter().map(|one| (one.line, one.rule.as_str(), one.danger)).collect();
        assert_eq!(
            found,
            [(1, "danger/git-local", Danger::Medium), (5, "danger/delete", Danger::High)],
            "{found:?}"
        );
    }

    #[test]
    fn a_text_that_one_parser_does_not_read_is_never_low() {
        // Each is a program that bash runs.
        assert!(worst("for ((;;)); do sleep 1; date; break; done\n") >= Danger::Medium);
        assert_eq!(worst("cat <<A; rm -rf /opt/x\nx\nA\n"), Danger::High);
        assert_eq!(worst("coproc rm -rf /opt/x\n"), Danger::High);
        assert_eq!(worst(&format!("{}echo x\n", "cat <<A\nx\nA\n".repeat(150))), Danger::Low);
        let too_much = format!("{}echo x\n", "cat <<A\nx\nA\n".repeat(250));
        assert_eq!(worst(&too_much), Danger::Medium, "the second parser is not asked so much");
    }

    #[test]
    fn readings_that_agree_change_nothing() {
        for text in ["a && b || c\n", "for f in *.csv; do cp \"$f\" out/; done\n", "x=$(date +%F)\n"] {
            assert_eq!(worst(text), Danger::Low, "{text}");
        }
    }
}
