//! The rung below overlays: copies of the job's folders over a read-only machine.

use std::os::unix::net::UnixListener;

use selfheal_core::effects::Change;
use selfheal_core::ports::{BoxOrder, Boxes};
use selfheal_core::run::Ended;
use selfheal_core::verification::SceneEdit;
use selfheal_exec::BoxConfig;

use super::{Place, can_try, effects, said};

fn place() -> Option<Place> {
    let place = Place::forbidding(&["overlay"]);
    can_try(&place).then_some(place)
}

#[test]
fn the_rung_is_named_with_the_reason_and_can_be_demanded() {
    let Some(place) = place() else { return };
    let rung = place.runner.rung();
    assert_eq!(
        (rung.name.as_str(), rung.why_not_better),
        ("copy", vec!["whole-tree overlay: not wanted".to_owned()])
    );
    assert_eq!(place.sh("true").rung, "copy");
    let forbid = vec!["overlay".to_owned()];
    let strict = Place::with(|config| BoxConfig { forbid, lowest: Some("overlay".to_owned()), ..config });
    let rung = strict.runner.rung();
    assert_eq!(rung.name, "none");
    assert!(rung.why_not_better.join("; ").contains("the settings demand overlay"), "{rung:?}");
    assert!(strict.runner.run(&strict.shell("true")).is_err());
    let high = Place::with(|config| BoxConfig { lowest: Some("overlay".to_owned()), ..config });
    assert_eq!(high.runner.rung().name, Place::new().runner.rung().name);
}

#[test]
fn the_job_works_where_it_always_does_and_nothing_reaches_the_machine() {
    let Some(place) = place() else { return };
    place.write("old", "old\n");
    place.write("gone", "g");
    std::fs::create_dir_all(place.work.join("folder/inner")).unwrap();
    place.write("folder/inner/x", "x");
    let setup = vec![SceneEdit::Write { path: "set".into(), content: b"set\n".to_vec(), mode: None }];
    let line = "pwd; cat set; echo more >> old; rm gone; rm -r folder; mkdir folder; echo new > folder/new; chmod 700 set";
    let run = place.run(&BoxOrder { setup, ..place.shell(line) });
    assert_eq!(said(&run), (0, format!("{}\nset\n", place.work.display()), String::new()));
    let expected = [
        ("folder/inner", Change::Deleted),
        ("folder/inner/x", Change::Deleted),
        ("folder/new", Change::Created),
        ("gone", Change::Deleted),
        ("old", Change::Appended),
        ("set", Change::Attributes),
    ];
    let expected: Vec<_> = expected.map(|(name, change)| (name.to_owned(), change)).into();
    assert_eq!(effects(&run, &place.work), expected);
    assert_eq!(std::fs::read_to_string(place.work.join("old")).unwrap(), "old\n");
    assert!(place.work.join("folder/inner/x").exists() && !place.work.join("set").exists());
    // A mark of overlays is a plain attribute here, and hides nothing.
    let line = "echo x > new; perl -e 'syscall(188, \"new\", \"user.overlay.whiteout\", \"y\", 1, 0)'; true";
    assert_eq!(effects(&place.sh(line), &place.work), [("new".to_owned(), Change::Created)]);
}

#[test]
fn what_is_refused_outside_of_its_folders_is_in_doubt() {
    let Some(place) = place() else { return };
    let beside = place.work.parent().unwrap().join("beside");
    std::fs::write(&beside, "safe\n").unwrap();
    let fifo = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = place.work.parent().unwrap().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, fifo, 0).unwrap();
    for line in [
        "echo x >> ../beside",
        "rm ../beside",
        "chmod 777 ../beside",
        "mv ../beside .",
        "ln ../beside hard && echo x >> hard",
        "echo x > ../new",
        "touch -d 2001-01-01 ../beside",
        "echo x > /etc/selfheal-test",
        "exec 3<>../pipe",
    ] {
        let run = place.sh(line);
        assert_ne!(run.run.ended, Ended::Exited(0), "{line}");
        assert!(run.inconclusive.is_some(), "{line}: {:?}", said(&run));
        assert_eq!(std::fs::read_to_string(&beside).unwrap(), "safe\n");
    }
    // A service that could be reached through the read-only bind.
    let listener = UnixListener::bind(place.work.parent().unwrap().join("service")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let dial = "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die \"socket: $!\\n\"; \
        connect(S, sockaddr_un(\"../service\")) or die \"connect: $!\\n\"'";
    let run = place.sh(dial);
    assert_ne!(run.run.ended, Ended::Exited(0));
    assert!(run.inconclusive.unwrap().contains("network"));
    assert!(listener.accept().is_err());
}

#[test]
fn folders_that_are_too_large_or_hold_mounts_get_no_box() {
    let config = |config: BoxConfig| BoxConfig {
        forbid: vec!["overlay".to_owned()],
        limits: selfheal_core::ports::BoxLimits { room: Some(4 << 20), ..Default::default() },
        ..config
    };
    let place = Place::with(config);
    if !can_try(&place) {
        return;
    }
    std::fs::write(place.work.join("large"), vec![1; 3 << 20]).unwrap();
    let error = place.runner.run(&place.shell("true")).unwrap_err().to_string();
    assert!(error.contains("more than is copied"), "{error}");
    let error =
        place.runner.run(&BoxOrder { cwd: "/".into(), ..place.shell("true") }).unwrap_err().to_string();
    assert!(error.contains("mounted in it"), "{error}");
}
