//! The index of task runs.

use selfheal_store::IndexedTask;

use crate::helpers::{Place, redacted};

fn row(stamp: &str, body: &str) -> IndexedTask {
    IndexedTask { stamp: stamp.to_owned(), body: redacted(body) }
}

#[test]
fn rows_are_put_replaced_and_dropped_and_a_lost_table_is_made_anew() {
    let place = Place::new();
    let store = place.open();
    assert!(store.indexed_tasks().unwrap().is_empty());
    store.index_tasks(&[("a".into(), row("1", "{}")), ("b".into(), row("1", "{}"))], &[]).unwrap();
    store.index_tasks(&[("a".into(), row("2", "[]"))], &["b".into()]).unwrap();
    let all = store.indexed_tasks().unwrap();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), [("a".to_owned(), row("2", "[]"))]);
    drop(store);
    place.sql().execute_batch("DROP TABLE task_run").unwrap();
    let store = place.open();
    assert!(store.indexed_tasks().unwrap().is_empty());
    store.index_tasks(&[("c".into(), row("1", "{}"))], &[]).unwrap();
    assert_eq!(store.indexed_tasks().unwrap().len(), 1);
}
