//! Makes hostile texts out of good ones: a small deterministic mutator, so that every run can be repeated by its seed.

/// Pieces that parsers stumble over.
const TOKENS: &[&str] = &[
    "<<",
    "<<<",
    "<<-E\n",
    "$(",
    "${",
    "`",
    "\"",
    "'",
    "\\",
    "\n",
    ";",
    "|",
    "||",
    "&&",
    "&",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "#",
    "$",
    "if ",
    "fi",
    "do ",
    "done",
    "case ",
    "esac",
    "for ",
    "while ",
    "function f() {",
    "eval ",
    "bash -c '",
    "rm -rf ",
    "/",
    "*",
    "~",
    "trap '",
    "' EXIT",
    "set -e\n",
    "|| true",
    "exit 0",
    "\t",
    "\r\n",
    "\u{0}",
    "\u{feff}",
    "é",
    "𝄞",
    "a=$a$a;",
    "x=(",
    "[@]}",
    ":-",
    "try:",
    "except",
    "lambda",
    "def f(",
    "import os",
    "- run: |",
    "  ",
    "key: ",
    "<<EOF\n",
    "EOF\n",
    "eval {",
    "rescue ",
    "begin\n",
    "end\n",
    "/*",
    "*/",
    "--",
    "DROP TABLE ",
    "WHERE ",
    "RUN ",
    "FROM ",
    "$(shell ",
    "%x(",
    "=> {",
    "catch (e) {",
    "`${",
];

/// A sequence of numbers from a seed.
pub struct Random(u64);

impl Random {
    /// Starts at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number below a limit; 0 for a limit of 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0).checked_rem(limit).unwrap_or(0)
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        let at = self.below(all.len());
        all.get(at).copied().unwrap_or_default()
    }
}

/// A text made of the given ones.
pub fn text(random: &mut Random, seeds: &[String]) -> String {
    let pick = |random: &mut Random| -> Vec<char> {
        let at = random.below(seeds.len());
        seeds.get(at).map(|seed| seed.chars().collect()).unwrap_or_default()
    };
    let mut out = pick(random);
    for _ in 0..=random.below(8) {
        let (at, len) = (random.below(out.len() + 1), random.below(24));
        let end = (at + len).min(out.len());
        match random.below(6) {
            0 => drop(out.drain(at..end)),
            1 => {
                let copy: Vec<char> = out.get(at..end).map(<[char]>::to_vec).unwrap_or_default();
                out.splice(at..at, copy.repeat(1 + random.below(4)));
            }
            2 => {
                let other = pick(random);
                let from = random.below(other.len() + 1);
                out.splice(at..end, other.into_iter().skip(from).take(200));
            }
            3 => {
                let token = random.of(TOKENS).repeat(1 + random.below(3));
                out.splice(at..at, token.chars());
            }
            4 => {
                let token = random.of(TOKENS);
                let many = token.repeat(random.below(200));
                out.splice(at..at, many.chars());
            }
            _ => {
                if let Some(place) = out.get_mut(at) {
                    *place = char::from_u32(random.below(0x250) as u32).unwrap_or('\u{1}');
                }
            }
        }
    }
    out.truncate(20_000);
    out.into_iter().collect()
}
