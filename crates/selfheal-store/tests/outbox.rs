//! Messages that wait.

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Message, Outbox, Trouble};

use crate::helpers::{Place, id, redacted};

fn message(at: i64) -> Message {
    Message {
        at: Timestamp(at),
        subject: redacted("backup failed"),
        text: redacted("selfheal approve"),
        incident: Some(id(1)),
    }
}

#[test]
fn a_message_waits_until_it_is_settled() {
    let place = Place::new();
    let store = place.open();
    store.put(&message(10)).unwrap();
    store.put(&message(20)).unwrap();
    assert_eq!(store.due(Timestamp(5), 10).unwrap(), []);
    let due = place.open().due(Timestamp(10), 10).unwrap();
    assert_eq!(due.iter().map(|(_, one)| one.clone()).collect::<Vec<_>>(), [message(10)]);
    let row = due[0].0;
    store.settle(row, Some(Timestamp(15))).unwrap();
    assert_eq!(store.due(Timestamp(14), 10).unwrap(), []);
    assert_eq!(store.due(Timestamp(15), 10).unwrap(), [(row, message(10))]);
    store.settle(row, None).unwrap();
    assert_eq!(store.delivery_attempts(row).unwrap(), 2);
    assert_eq!(store.due(Timestamp(1_000_000_000), 10).unwrap().len(), 1);
    assert_eq!(store.waiting_messages().unwrap(), 1);
    assert_eq!(store.settle(99, None).unwrap_err().trouble, Trouble::Missing);
}

#[test]
fn two_that_look_at_once_do_not_get_the_same_message() {
    let place = Place::new();
    let (one, other) = (place.open(), place.open());
    for at in 1..=3 {
        one.put(&message(at)).unwrap();
    }
    assert_eq!(one.due(Timestamp(10), 2).unwrap().len(), 2);
    assert_eq!(other.due(Timestamp(10), 9).unwrap().len(), 1);
    assert_eq!(other.due(Timestamp(10), 9).unwrap(), []);
    // The first one died: after five minutes they are due again.
    assert_eq!(other.due(Timestamp(10 + 300_000), 9).unwrap().len(), 3);
}
