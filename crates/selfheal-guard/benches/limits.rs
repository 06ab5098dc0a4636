//! How long the guard takes, as `cargo bench -p selfheal-guard` prints it: 10 KB scripts, a script of 500 lines, and texts
//! that were made to be slow. With a word behind `--` only what has it in its name: `-- hostile` or `-- "many cases"`.
#![expect(clippy::print_stdout, reason = "a bench is there to print")]

use std::time::Duration;

use selfheal_guard::{danger_of, masking_of};
use selfheal_syntax::Language;

/// A script of at least so many bytes, of ordinary statements that differ from one seed to the next.
fn script(seed: usize, bytes: usize) -> String {
    const LINES: [&str; 12] = [
        "src=/data/in/N\n",
        "for f in \"$src\"/*.csv; do\n  cp \"$f\" out/ || exit 1\ndone\n",
        "if [ ! -d out ]; then\n  mkdir -p out\nfi\n",
        "count=$(wc -l < \"out/N.csv\")\n",
        "[ \"$count\" -gt 0 ] || { echo \"nothing in N\" >&2; exit 1; }\n",
        "sort -u out/N.csv | awk -F, '{ print $1 }' > list.N\n",
        "tmp=$(mktemp -d)\ntrap 'rm -rf \"$tmp\"' EXIT\n",
        "curl -fsS \"https://example.org/N\" -o \"$tmp/N\"\n",
        "case $count in\n  0) echo none ;;\n  *) echo \"$count rows\" ;;\nesac\n",
        "load() {\n  psql -v ON_ERROR_STOP=1 -f \"$1\"\n}\n",
        "load \"sql/N.sql\"\n",
        "find out -name '*.tmp' -mtime +7 -print0 | xargs -0 -r ls -l\n",
    ];
    let mut out = "#!/bin/bash\nset -euo pipefail\n".to_owned();
    let mut at = seed;
    while out.len() < bytes {
        out.push_str(&LINES.get(at % LINES.len()).copied().unwrap_or_default().replace('N', &at.to_string()));
        at = at.wrapping_mul(31).wrapping_add(7);
    }
    out
}

/// A change of one line in the middle.
fn changed(text: &str) -> String {
    text.replacen("cp \"$f\" out/", "mkdir -p out && cp \"$f\" out/", 1)
}

/// The processor time that a piece of work takes, so that a busy machine does not count.
fn took(work: impl FnOnce()) -> Duration {
    let begun = spent();
    work();
    spent().saturating_sub(begun)
}

/// How long this process has run: parsers run on threads of their own.
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn line(what: &str, mut all: Vec<Duration>) {
    all.sort();
    let at = |share: usize| {
        all.get((all.len() * share / 100).min(all.len().saturating_sub(1))).copied().unwrap_or_default()
    };
    println!("{what:<34} median {:>8.2?}  p99 {:>8.2?}  worst {:>8.2?}", at(50), at(99), at(100));
}

/// Texts that were made to be slow.
fn hostile() -> Vec<(&'static str, String)> {
    vec![
        ("here-operators", "<<".repeat(10_000)),
        ("here-strings", "<<<<".repeat(5_000)),
        ("substitutions", "$(".repeat(5_000)),
        ("braces", "{".repeat(10_000)),
        ("brackets", "[".repeat(10_000)),
        ("quotes", "\"".repeat(10_001)),
        ("doubling variables", "a=$a$a;".repeat(2_000)),
        ("evals", "eval ".repeat(3_000)),
        ("nested shells", "bash -c 'bash -c \"bash -c x\"'; ".repeat(500)),
        ("functions that call each other", "f() { g \"$@\"; }\ng() { f \"$1\"; }\nf a\n".repeat(500)),
        ("one long line", "true;".repeat(20_000)),
        ("many cases", "case $x in a) b;; esac\n".repeat(2_000)),
        ("many evals of try", "eval { x };\n".repeat(3_000)),
        ("many rescues", "rescue => e\n".repeat(5_000)),
        ("many catches", "try { a } catch (e) {}\n".repeat(2_000)),
        ("many keys", "a: b\n".repeat(20_000)),
        ("deep keys", (0..1_000).map(|at| format!("{}a:\n", " ".repeat(at))).collect()),
        ("many redirects", "a > b 2>&1 < c\n".repeat(3_000)),
        ("many loops", "for a in b; do\n".repeat(1_500)),
        ("bytes", "é\u{0}\u{feff}\r\\".repeat(5_000)),
    ]
}

/// Whether a part of the bench was asked for.
fn wanted(name: &str) -> bool {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--")).peekable();
    words.peek().is_none() || words.any(|word| name.contains(&word))
}

fn ordinary() {
    let mut judged = (Vec::new(), Vec::new());
    for seed in 0..300 {
        let text = script(seed, 10_000);
        judged.0.push(took(|| drop(danger_of(Language::Shell, &text))));
        judged.1.push(took(|| drop(masking_of(Language::Shell, &text, &changed(&text)))));
    }
    line("danger, 10 KB", judged.0);
    line("masking, 10 KB", judged.1);
    let mut long = (Vec::new(), Vec::new());
    for seed in 0..100 {
        let text = script(seed, 1 << 20).lines().take(500).collect::<Vec<_>>().join("\n");
        long.0.push(took(|| drop(danger_of(Language::Shell, &text))));
        long.1.push(took(|| drop(masking_of(Language::Shell, &text, &changed(&text)))));
    }
    line("danger, 500 lines", long.0);
    line("masking, 500 lines", long.1);
}

fn main() {
    if wanted("ordinary") {
        ordinary();
    }
    let languages = [
        Language::Shell,
        Language::Python,
        Language::Node,
        Language::Perl,
        Language::Ruby,
        Language::Sql,
        Language::Make,
        Language::Yaml,
        Language::Docker,
    ];
    for (name, text) in hostile().into_iter().filter(|(name, _)| wanted("hostile") || wanted(name)) {
        let mut worst = (Duration::ZERO, Language::Other, "");
        for language in languages {
            let each = [
                (took(|| drop(danger_of(language, &text))), "danger"),
                (took(|| drop(masking_of(language, "a\n", &text))), "masking to"),
                (took(|| drop(masking_of(language, &text, "a\n"))), "masking from"),
            ];
            for (time, what) in each {
                if time > worst.0 {
                    worst = (time, language, what);
                }
            }
        }
        println!("{name:<34} worst {:>8.2?} ({:?}, {})", worst.0, worst.1, worst.2);
    }
}
