//! The backup job: an empty source and a missing destination, in several forms.

use selfheal_core::fault::Fault;
use selfheal_core::proposal::Risk;

use crate::machine::TestJob;

fn glob(pattern: &str) -> Fault {
    Fault::UnmatchedGlob { pattern: pattern.to_owned() }
}

/// Heals a job whose source `in` is empty and whose destination is missing, and tries it in each start state.
fn holds(text: &str, pattern: &str, line: u32, result: &str) {
    let job = TestJob::new("job.sh", text, &["bash", "job.sh"]);
    job.folder("in");
    assert_ne!(job.run().0, 0, "{text}");
    let candidate = job.heal("job.sh", line, glob(pattern));
    assert_eq!(candidate.proposal.risk, Risk::Low);
    let healed = std::fs::read_to_string(job.path("job.sh")).unwrap();
    let (code, output) = job.run();
    assert_eq!(code, 0, "{healed}\n{output}");
    assert!(output.contains("no file matches"), "{output}");
    job.write("in/one.log", "1\n");
    job.write("in/two words.log", "2\n");
    job.remove("out");
    let (code, output) = job.run();
    assert_eq!(code, 0, "{healed}\n{output}");
    assert!(job.path(result).exists(), "{healed}");
    job.remove("out");
    job.write("out", "a file in the way");
    job.write("in/one.log", "1\n");
    assert_ne!(job.run().0, 0, "a file in the way of the destination: {healed}");
    job.remove("out");
    job.remove("in");
    assert_ne!(job.run().0, 0, "a missing source: {healed}");
}

#[test]
fn a_loop_that_copies() {
    let text = "#!/bin/bash\nset -euo pipefail\nSRC=${SRC:-in}\nOUT=out\nfor f in \"$SRC\"/*.log; do\n  cp \"$f\" \"$OUT/$(basename \"$f\").bak\"\ndone\n";
    holds(text, "in/*.log", 6, "out/two words.log.bak");
}

#[test]
fn a_loop_that_moves_in_a_function() {
    let text = "set -e\nput() {\n\tlocal from=$1 to=$2 x\n\tfor x in \"$from\"/*.log\n\tdo\n\t\tmv \"$x\" \"$to/\"\n\tdone\n}\nput in out\n";
    holds(text, "in/*.log", 6, "out/two words.log");
}

#[test]
fn a_loop_that_packs_on_one_line() {
    let text = "set -eu\nfor f in in/*.log; do gzip -c \"$f\" > \"out/${f##*/}.gz\"; done\n";
    holds(text, "in/*.log", 2, "out/two words.log.gz");
}

#[test]
fn a_listing_that_is_read() {
    let text = "set -euo pipefail\nls in/*.log | while read -r f; do\n  install -m 600 \"$f\" out/\ndone\n";
    holds(text, "in/*.log", 2, "out/two words.log");
}

#[test]
fn a_command_that_gets_the_pattern_itself() {
    let text = "set -e\nSRC=in\ncp \"$SRC\"/*.log out/\n";
    holds(text, "in/*.log", 3, "out/two words.log");
}
