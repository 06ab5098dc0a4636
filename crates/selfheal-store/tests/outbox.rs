//! Messages that wait.

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Delivery, Due, Message, Outbox, Trouble};
use selfheal_store::Store;

use crate::helpers::{Place, id, redacted};

fn message(at: i64) -> Message {
    Message {
        at: Timestamp(at),
        subject: redacted("backup failed"),
        text: redacted("selfheal approve"),
        html: (at == 10).then(|| redacted("<p>selfheal approve</p>")),
        incident: Some(id(1)),
    }
}

fn due(store: &Store, channel: &str, now: i64) -> Vec<Due> {
    store.due(channel, Timestamp(now), 10).unwrap()
}

#[test]
fn each_channel_has_its_own_way_with_a_message() {
    let place = Place::new();
    let store = place.open();
    store.put(&message(10)).unwrap();
    store.put(&message(20)).unwrap();
    assert_eq!(store.hand_out(&[], Timestamp(15)).unwrap(), 0, "without channels they stay new");
    assert_eq!(store.hand_out(&["mail", "chat"], Timestamp(15)).unwrap(), 1);
    assert_eq!(store.hand_out(&["mail", "chat"], Timestamp(15)).unwrap(), 0);
    assert_eq!(store.waiting_messages().unwrap(), 2);
    let mail = due(&place.open(), "mail", 15);
    assert_eq!(
        mail.iter().map(|one| (one.attempts, one.message.clone())).collect::<Vec<_>>(),
        [(0, message(10))]
    );
    let row = mail[0].row;
    let again = Delivery::Again { at: Timestamp(30), error: redacted("no route") };
    store.settle("mail", &[row], &again).unwrap();
    assert_eq!(store.in_trouble_until("mail", Timestamp(29)).unwrap(), Some(Timestamp(30)));
    assert_eq!(store.in_trouble_until("mail", Timestamp(30)).unwrap(), None);
    assert_eq!(store.in_trouble_until("chat", Timestamp(29)).unwrap(), None);
    assert_eq!(due(&store, "mail", 29), []);
    assert_eq!(due(&store, "mail", 30)[0].attempts, 1);
    store.settle("mail", &[row], &Delivery::Done(Timestamp(31))).unwrap();
    assert_eq!(store.delivery_attempts("mail", row).unwrap(), 2);
    assert_eq!(store.last_delivery("mail").unwrap(), Some(Timestamp(31)));
    assert_eq!(due(&store, "mail", 1_000_000_000), []);
    // The other channel knows nothing of that.
    assert_eq!(store.last_delivery("chat").unwrap(), None);
    assert_eq!(due(&store, "chat", 31)[0].attempts, 0);
    let missing = store.settle("mail", &[99], &Delivery::Done(Timestamp(1))).unwrap_err();
    assert_eq!(missing.trouble, Trouble::Missing);
}

#[test]
fn what_is_given_up_is_told_and_not_due_again() {
    let place = Place::new();
    let store = place.open();
    store.put(&message(10)).unwrap();
    store.hand_out(&["mail", "gone"], Timestamp(10)).unwrap();
    let row = due(&store, "mail", 10)[0].row;
    store.settle("mail", &[row], &Delivery::GivenUp { error: redacted("no route") }).unwrap();
    assert_eq!(store.drop_channels_but(&["mail"], &redacted("not in the settings")).unwrap(), 1);
    assert_eq!(store.waiting_messages().unwrap(), 0);
    let told: Vec<(String, u64, String)> = store
        .undelivered(Timestamp(0))
        .unwrap()
        .into_iter()
        .map(|one| (one.channel, one.messages, one.error.to_string()))
        .collect();
    let one = |channel: &str, why: &str| (channel.to_owned(), 1, why.to_owned());
    assert_eq!(told, [one("gone", "not in the settings"), one("mail", "no route")]);
    assert_eq!(store.undelivered(Timestamp(11)).unwrap(), []);
}

#[test]
fn two_that_look_at_once_do_not_get_the_same_message() {
    let place = Place::new();
    let (one, other) = (place.open(), place.open());
    for at in 1..=3 {
        one.put(&message(at)).unwrap();
    }
    one.hand_out(&["mail"], Timestamp(10)).unwrap();
    assert_eq!(one.due("mail", Timestamp(10), 2).unwrap().len(), 2);
    assert_eq!(other.due("mail", Timestamp(10), 9).unwrap().len(), 1);
    assert_eq!(due(&other, "mail", 10), []);
    // The first one died: after five minutes they are due again.
    assert_eq!(due(&other, "mail", 10 + 300_000).len(), 3);
}
