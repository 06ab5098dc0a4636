//! What good runs read and left.

use selfheal_core::ids::{ContentHash, JobKey, Timestamp};
use selfheal_store::{GoodRun, KeptInput, Produced, Store, StoreOptions};
use sha2::{Digest, Sha256};

fn hash(content: &[u8]) -> ContentHash {
    ContentHash::new(Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn run(started: i64, content: &[u8]) -> GoodRun {
    let input = KeptInput { path: "/srv/in.csv".into(), content: hash(content), mode: 0o644 };
    let produced = Produced { path: "out.csv".into(), bytes: 7, lines: Some(2) };
    GoodRun { started: Timestamp(started), duration_ms: 5, inputs: vec![input], produced: vec![produced] }
}

#[test]
fn ten_runs_are_kept_the_newest_first_and_three_with_their_contents() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    let (job, other) = (JobKey::new("nightly"), JobKey::new("other"));
    assert!(store.good_runs(&job).is_empty());
    for number in 0..15 {
        let content = format!("content {number}").into_bytes();
        store.keep_good(&job, &run(number, &content), &[content]).unwrap();
    }
    let kept = store.good_runs(&job);
    assert_eq!(kept.iter().map(|run| run.started.0).collect::<Vec<_>>(), (5..15).rev().collect::<Vec<_>>());
    assert_eq!(store.newest_good(&job), (Some(Timestamp(14)), 10));
    assert_eq!(store.good_content(&job, &hash(b"content 12")).unwrap(), b"content 12");
    assert!(store.good_content(&job, &hash(b"content 11")).is_err());
    assert!(store.good_content(&job, &ContentHash::new("../../etc/passwd")).is_err());
    assert!(store.good_runs(&other).is_empty());
}

#[test]
fn a_damaged_record_and_a_damaged_content_are_no_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    let job = JobKey::new("nightly");
    store.keep_good(&job, &run(1, b"a"), &[b"a".to_vec()]).unwrap();
    store.keep_good(&job, &run(2, b"a"), &[b"a".to_vec()]).unwrap();
    let own = std::fs::read_dir(folder.path().join("good")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(own.join(format!("{:020}.json", 2)), "{").unwrap();
    std::fs::write(own.join(hash(b"a").as_str()), "b").unwrap();
    assert_eq!(store.good_runs(&job).len(), 1);
    assert!(store.good_content(&job, &hash(b"a")).is_err());
}
