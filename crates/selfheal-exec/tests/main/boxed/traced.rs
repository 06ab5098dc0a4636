//! Probes, in real boxes with the real interpreters.

use selfheal_core::ports::BoxOrder;
use selfheal_core::trace::Trace;

use super::{Place, can_try, said};

const BACKUP: &str = r#"#!/bin/bash
set -euo pipefail
SRC="$1"
dest="out dir"
mkdir -p "$dest"
copy() {
  local f=$1
  cp "$f" "$dest/$(basename "$f").bak"
}
for f in "$SRC"/*.log; do
  copy "$f"
done
echo done
"#;

fn traced(place: &Place, name: &str, argv: &[&str]) -> BoxOrder {
    BoxOrder { traced: true, script: Some(place.work.join(name)), ..place.order(argv) }
}

/// Runs traced and untraced, and checks that both end and speak alike.
fn alike(place: &Place, order: &BoxOrder) -> Trace {
    let run = place.run(order);
    let bare = place.run(&BoxOrder { traced: false, ..order.clone() });
    assert_eq!(said(&run), said(&bare));
    run.trace.unwrap()
}

#[test]
fn bash_shows_the_words_and_values_of_what_failed() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let script = place.write("backup.sh", BACKUP);
    std::fs::create_dir(place.work.join("logs")).unwrap();
    let trace = alike(&place, &traced(&place, "backup.sh", &["bash", "backup.sh", "logs"]));
    let step = trace.failing_step().unwrap();
    assert_eq!(step.words, ["cp", "logs/*.log", "out dir/*.log.bak"]);
    assert_eq!((&step.file, step.line, step.status), (&script, 8, Some(1)));
    assert_eq!(trace.value("f"), Some("logs/*.log"));
    assert_eq!(trace.value("dest"), Some("out dir"));
    let frames: Vec<_> = trace.frames.iter().map(|frame| (frame.function.as_str(), frame.line)).collect();
    assert_eq!(frames, [("main", 11), ("copy", 8)]);
    assert!(trace.complete);
    assert!([2, 3, 4, 5, 7, 8, 10, 11].iter().all(|line| trace.ran(&script, *line)), "{:?}", trace.lines);
    assert!(!trace.ran(&script, 13));
}
