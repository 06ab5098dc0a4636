//! What a box is: the machine as it is, and nothing reaches it.

use selfheal_core::effects::Change;

use super::{Place, can_try, effects, said};

#[test]
fn writes_do_not_reach_the_machine() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    place.write("old", "old\n");
    let run = place.sh("echo hello; echo err >&2; echo more >> old; echo new > new; pwd; exit 3");
    assert_eq!(said(&run), (3, format!("hello\n{}\n", place.work.display()), "err\n".to_owned()));
    assert_eq!(run.inconclusive, None);
    assert_eq!(std::fs::read_to_string(place.work.join("old")).unwrap(), "old\n");
    assert!(!place.work.join("new").exists());
    let expected = [("new".to_owned(), Change::Created), ("old".to_owned(), Change::Appended)];
    assert_eq!(effects(&run, &place.work), expected);
}
