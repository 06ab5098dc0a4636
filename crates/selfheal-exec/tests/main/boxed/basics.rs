//! What a box is: the machine as it is, and nothing reaches it.

use selfheal_core::effects::Change;
use selfheal_core::ports::Boxes;

use super::{Place, can_try, effects, is_root, said};

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

/// Root of a container has the number of root and little else.
#[test]
fn root_without_might_gets_a_box_too() {
    if !is_root() {
        return;
    }
    let place =
        Place::by(|program| format!("exec setpriv --bounding-set=-all --inh-caps=-all {program} \"$@\""));
    if !can_try(&place) {
        return;
    }
    let run = place.sh("id -u; echo x > new; grep CapEff /proc/self/status; cat /root/.profile > /dev/null; echo y > /etc/new");
    assert_eq!(run.run.ended.code(), 0, "{:?}", said(&run));
    assert!(run.run.stdout.text().starts_with("0\n"));
    assert_eq!(effects(&run, &place.work), [("new".to_owned(), Change::Created)]);
    assert!(!std::path::Path::new("/etc/new").exists());
}

/// Where the kernel gives no namespaces, nothing is run at all.
#[test]
fn without_namespaces_there_is_no_rung() {
    let place = Place::by(|program| {
        format!(
            "ulimit -u 100000; exec unshare -r sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; echo 0 > /proc/sys/user/max_mnt_namespaces; exec {program} \"$@\"' x \"$@\""
        )
    });
    let rung = place.runner.rung();
    assert_eq!(rung.name, "none", "{rung:?}");
    assert!(rung.why_not_better.join(" ").contains("namespace"), "{rung:?}");
    assert!(place.runner.run(&place.shell("echo x > new")).is_err());
    assert!(!place.work.join("new").exists());
}
