//! What a caller opens or limits: network, secrets, processes, memory, files, room.

use std::io::Read;
use std::net::TcpListener;

use selfheal_core::ports::{BoxLimits, BoxOrder, BoxedRun};
use selfheal_core::run::Ended;
use selfheal_exec::BoxConfig;

use super::{Place, can_try, said};

fn limited(place: &Place, limits: BoxLimits, argv: &[&str]) -> BoxedRun {
    place.run(&BoxOrder { limits, ..place.order(argv) })
}

#[test]
fn a_fork_bomb_is_ended_and_in_doubt() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let bomb = "for (1 .. 10000) { my $p = fork(); if (defined $p && !$p) { sleep 9999; exit } } sleep 9999";
    for processes in [Some(40), None] {
        let run = limited(&place, BoxLimits { processes, ..BoxLimits::default() }, &["perl", "-e", bomb]);
        let why = run.inconclusive.clone().unwrap_or_default();
        assert!(
            why.contains("more processes than the box may hold"),
            "{processes:?}: {why} {:?}",
            said(&run)
        );
    }
    let calm = limited(
        &place,
        BoxLimits { processes: Some(40), ..BoxLimits::default() },
        &["bash", "-c", "for i in {1..20}; do sleep 0.3 & done; wait"],
    );
    assert_eq!((calm.inconclusive, calm.run.ended), (None, Ended::Exited(0)));
}

#[test]
fn memory_is_limited_for_one_process_and_for_all_together() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let limits = BoxLimits { memory: Some(96 << 20), ..BoxLimits::default() };
    let one = limited(&place, limits, &["perl", "-e", "$x = 'x' x 200_000_000; print length $x"]);
    assert_ne!(one.run.ended, Ended::Exited(0));
    assert!(one.inconclusive.as_deref().unwrap_or_default().contains("memory"), "{:?}", said(&one));
    let many = "for (1 .. 8) { if (!fork()) { $x = 'x' x 12_000_000; $y = $x . $x; sleep 9999 } } sleep 9999";
    let all = limited(&place, limits, &["perl", "-e", many]);
    assert!(all.inconclusive.as_deref().unwrap_or_default().contains("more memory"), "{:?}", said(&all));
    // What is shared with a parent counts once.
    let shared = "$x = 'x' x 20_000_000; for (1 .. 8) { if (!fork()) { sleep 1; exit } } 1 while wait() > 0";
    let run = limited(&place, limits, &["perl", "-e", shared]);
    assert_eq!((run.inconclusive, run.run.ended), (None, Ended::Exited(0)));
}

#[test]
fn a_file_that_grows_too_large_is_in_doubt() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let limits = BoxLimits { file_size: Some(1 << 20), ..BoxLimits::default() };
    for line in ["head -c 3000000 /dev/zero > big", "trap '' XFSZ; head -c 3000000 /dev/zero > big"] {
        let run = limited(&place, limits, &["bash", "-c", line]);
        assert_ne!(run.run.ended, Ended::Exited(0));
        assert!(run.inconclusive.as_deref().unwrap_or_default().contains("larger file"), "{:?}", said(&run));
    }
}

#[test]
fn room_that_was_used_up_for_a_while_is_seen() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let limits = BoxLimits { room: Some(4 << 20), ..BoxLimits::default() };
    let line = "head -c 9000000 /dev/zero > big 2> /dev/null; code=$?; sleep 1; rm big; exit $code";
    let run = limited(&place, limits, &["bash", "-c", line]);
    assert_eq!(run.inconclusive.as_deref(), Some("it wrote more than the box may hold"));
}

#[test]
fn the_network_is_opened_when_asked_for() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo hello >&3");
    let closed = place.run(&place.shell(&line));
    assert!(closed.inconclusive.unwrap().contains("no network"));
    let open = place.run(&BoxOrder { net: true, ..place.shell(&line) });
    assert_eq!(said(&open), (0, String::new(), String::new()));
    let mut text = String::new();
    listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello\n");
    // Without a listener the refusal is the job's own trouble.
    drop(listener);
    let refused = place.run(&BoxOrder { net: true, ..place.shell(&line) });
    assert_eq!((refused.inconclusive, refused.run.ended), (None, Ended::Exited(1)));
}

#[test]
fn secrets_are_seen_when_asked_for_and_others_are_not() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    for folder in [".ssh/deep", ".aws", "keys"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    for (name, text) in [
        (".ssh/id", "A"),
        (".ssh/config", "B"),
        (".ssh/deep/x", "C"),
        (".aws/k", "D"),
        ("keys/k", "E"),
        (".mine", "F"),
    ] {
        std::fs::write(home.join(name), text).unwrap();
    }
    let place =
        Place::with(|config| BoxConfig { secrets: vec![".mine".into(), home.join("keys")], ..config });
    if !can_try(&place) {
        return;
    }
    let line = "cd; cat .ssh/id .ssh/config .ssh/deep/x .aws/k keys/k .mine 2>/dev/null; true";
    let seen = |see: &[&str]| {
        let mut order = place.shell(line);
        order.env.insert("HOME".into(), home.clone().into());
        order.see = see.iter().map(|name| home.join(name)).collect();
        place.run(&order).run.stdout.text()
    };
    assert_eq!(seen(&[]), "");
    assert_eq!(seen(&[".ssh"]), "ABC");
    assert_eq!(seen(&[".ssh/config", ".ssh/deep"]), "BC");
    assert_eq!(seen(&["keys", ".mine"]), "EF");
    assert_eq!(seen(&["."]), "ABCDEF");
    let mut order = place.shell("cd; echo more >> .ssh/config; echo x > .ssh/new || true; ls -A .ssh");
    order.env.insert("HOME".into(), home.clone().into());
    order.see = vec![home.join(".ssh/config")];
    let run = place.run(&order);
    assert_eq!(run.run.stdout.text(), "config\n");
    assert_eq!(
        super::effects(&run, &home),
        [(".ssh/config".to_owned(), selfheal_core::effects::Change::Appended)]
    );
    // What the caller hides is hidden, seen or not.
    let mut order = place.shell("cat keys/k .ssh/id");
    order.cwd = home.clone();
    order.hidden = vec![home.join("keys")];
    order.see = vec![home.join("keys"), home.join(".ssh")];
    assert_eq!(place.run(&order).run.stdout.text(), "A");
}
