//! Everything comes out, a line a row.

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::Journal;
use selfheal_store::{EXPORTED, ExportFilter};

use crate::helpers::{Place, entry, incident, run};

fn lines(place: &Place, filter: &ExportFilter) -> Vec<serde_json::Value> {
    let mut out = Vec::new();
    place
        .open()
        .export(filter, &mut |line| {
            out.push(line);
            true
        })
        .unwrap();
    out
}

#[test]
fn every_row_is_a_line_with_its_type() {
    let place = Place::new();
    let store = place.open();
    store.store(&incident(1), &[entry("opened", 1)]).unwrap();
    store.record_run(&run(1)).unwrap();
    store.record_run(&run(5)).unwrap();
    let all = lines(&place, &ExportFilter::default());
    let types: Vec<&str> = all.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["run", "run", "facts", "incident", "ledger"]);
    assert!(types.iter().all(|name| EXPORTED.contains(name)));
    assert_eq!(all[3]["body"]["exit_code"], 1, "a body is JSON in JSON");
    assert_eq!(all[4]["seq"], 1);
    let kinds = vec!["run".to_owned()];
    let newer = ExportFilter { kinds, since: Some(Timestamp(5)) };
    let some = lines(&place, &newer);
    assert_eq!((some.len(), &some[0]["started"]), (1, &serde_json::json!(5)));
}

#[test]
fn it_stops_when_it_is_told_to() {
    let place = Place::new();
    let store = place.open();
    (1..9).for_each(|number| store.record_run(&run(number)).unwrap());
    let mut seen = 0;
    store
        .export(&ExportFilter::default(), &mut |_| {
            seen += 1;
            seen < 3
        })
        .unwrap();
    assert_eq!(seen, 3);
}
