//! A deterministic mutation fuzzer, one target a parser entry: `cargo bench -p selfheal-guard --bench fuzz -- TARGET SECONDS
//! [SEED]`, or `all` for every target. It prints how many texts were tried and which took longest; a panic ends it with the
//! seed of the text, so that it can be repeated. Without arguments every target runs for a second. `-- scripts COUNT` gives
//! so many random and mutated scripts to danger and masking in every language.
#![expect(clippy::print_stdout, clippy::panic, clippy::exit, reason = "a fuzzer is there to tell")]

#[path = "../tests/mutate.rs"]
mod mutate;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use selfheal_guard::policy::Trust;
use selfheal_guard::{Policy, danger_of, masking_of};
use selfheal_syntax::tree::{self, Grammar};
use selfheal_syntax::{Language, check, diff, embedded, python, shell, values, yaml};

/// A target: its name, and what it does with a text and a second one.
struct Target(&'static str, fn(&str, &str));

const TARGETS: &[Target] = &[
    Target("shell", |text, _| {
        if let Ok(script) = shell::Script::parse(text) {
            let values = values::Values::in_any_environment(&script);
            for command in script.commands().iter().take(200) {
                command
                    .words
                    .iter()
                    .take(20)
                    .for_each(|word| drop(values.alternatives(word, command.lines.0)));
            }
        }
    }),
    Target("second-shell-parser", |text, _| drop(shell::second_opinion(text, false))),
    Target("second-shell-reading", |text, _| {
        if let (Some(second), Ok(first)) = (shell::second::reading(text), shell::Script::parse(text)) {
            std::hint::black_box((second.agrees_with(&first), second.original_line(7)));
        }
    }),
    Target("python", |text, _| {
        if let Ok(module) = python::Module::parse(text) {
            drop((module.calls(), module.imports(), module.definitions(), module.subscripts()));
        }
    }),
    Target("javascript", |text, _| drop(tree::parse(Grammar::JavaScript, text))),
    Target("yaml", |text, _| {
        let all = yaml::entries(text);
        for at in 0..all.len().min(300) {
            std::hint::black_box((yaml::below(&all, at).len(), yaml::item_around(&all, at)));
        }
    }),
    Target("embedded", |text, _| {
        for language in [Language::Make, Language::Docker, Language::Yaml, Language::Node] {
            drop(embedded::as_script(language, text));
        }
    }),
    Target("checks", |text, _| {
        for language in [Language::Shell, Language::Python, Language::Node] {
            drop(check::syntax_errors(language, text));
        }
    }),
    Target("diff", |text, other| drop(diff::hunks(text, other))),
    Target("policy", |text, _| drop(Policy::default().add(text, "rules.toml", Trust::Owner))),
    Target("danger", |text, _| LANGUAGES.iter().for_each(|language| drop(danger_of(*language, text)))),
    Target("masking", |text, other| {
        LANGUAGES.iter().for_each(|language| drop(masking_of(*language, text, other)))
    }),
];

const LANGUAGES: &[Language] = &[
    Language::Shell,
    Language::Python,
    Language::Perl,
    Language::Node,
    Language::Ruby,
    Language::Awk,
    Language::Make,
    Language::Sql,
    Language::Yaml,
    Language::Docker,
    Language::Other,
];

/// The texts of the corpora, as they are.
fn seeds() -> Vec<String> {
    let corpora = [
        include_str!("../tests/corpus/danger.tsv"),
        include_str!("../tests/corpus/masking.tsv"),
        include_str!("../tests/corpus/masking-languages.tsv"),
    ];
    let fields = corpora.iter().flat_map(|text| text.lines()).flat_map(|line| line.split('\t').skip(2));
    fields.map(|field| field.replace("\\n", "\n").replace("\\t", "\t")).collect()
}

/// Ends the fuzzer with the seed of a text that takes longer than five minutes.
fn watch(name: &'static str, now: &std::sync::Arc<AtomicU64>) {
    let now = std::sync::Arc::clone(now);
    std::thread::spawn(move || {
        let mut before = u64::MAX;
        loop {
            std::thread::sleep(Duration::from_secs(300));
            let seed = now.load(Ordering::SeqCst);
            if seed == before {
                println!("{name}: seed {seed} does not end");
                std::process::exit(1);
            }
            before = seed;
        }
    });
}

/// How many panics there were, on whatever thread: the guard takes one on its own for "cannot be judged".
static PANICS: AtomicU64 = AtomicU64::new(0);

fn panics(work: impl FnOnce() + std::panic::UnwindSafe) -> bool {
    let before = PANICS.load(Ordering::SeqCst);
    std::panic::catch_unwind(work).is_err() || PANICS.load(Ordering::SeqCst) > before
}

/// Counts the panics of all threads from now on. The second shell parser's own are expected and caught: it unwraps.
fn count_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or("", |location| location.file());
        if !place.contains("brush-parser") {
            PANICS.fetch_add(1, Ordering::SeqCst);
            usual(info);
        }
    }));
}

fn run(target: &Target, lasts: Duration, seed: u64) {
    let Target(name, work) = target;
    let seeds = seeds();
    let (begun, mut count, mut worst) = (Instant::now(), 0_u64, (Duration::ZERO, 0));
    let now = std::sync::Arc::new(AtomicU64::new(seed));
    watch(name, &now);
    while begun.elapsed() < lasts {
        let own = seed + count;
        now.store(own, Ordering::SeqCst);
        let mut random = mutate::Random::new(own);
        let (one, other) = (mutate::text(&mut random, &seeds), mutate::text(&mut random, &seeds));
        let one_began = Instant::now();
        if panics(|| work(&one, &other)) {
            panic!("{name}: seed {own} panics: {one:?}");
        }
        let took = one_began.elapsed();
        if took > worst.0 {
            worst = (took, own);
        }
        count += 1;
    }
    println!(
        "{name:<22} {count:>9} texts in {:>6.1?}, longest {:>8.2?} (seed {})",
        begun.elapsed(),
        worst.0,
        worst.1
    );
}

/// Gives a number of texts to the two targets that stand for the whole guard; tells the slowest.
fn scripts(count: u64) {
    let (seeds, mut worst) = (seeds(), (Duration::ZERO, 0));
    for seed in 1..=count {
        let mut random = mutate::Random::new(seed);
        let (one, other) = (mutate::text(&mut random, &seeds), mutate::text(&mut random, &seeds));
        let began = Instant::now();
        for Target(name, work) in TARGETS.iter().filter(|target| ["danger", "masking"].contains(&target.0)) {
            if panics(|| work(&one, &other)) {
                panic!("{name}: seed {seed} panics: {one:?}");
            }
        }
        worst = worst.max((began.elapsed(), seed));
    }
    println!("{count} scripts, longest in all languages {:.2?} (seed {})", worst.0, worst.1);
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let (wanted, seconds) = (words.first().map_or("all", String::as_str), number(1).unwrap_or(1));
    let seed = number(2).unwrap_or(1);
    count_panics();
    if wanted == "scripts" {
        return scripts(number(1).unwrap_or(10_000));
    }
    let chosen = TARGETS.iter().filter(|Target(name, _)| wanted == "all" || *name == wanted);
    chosen.for_each(|target| run(target, Duration::from_secs(seconds), seed));
}
