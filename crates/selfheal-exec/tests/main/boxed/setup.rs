//! Changes before the job, and contents after it.

use selfheal_core::effects::Change;
use selfheal_core::ports::{BoxOrder, Boxes};
use selfheal_core::verification::SceneEdit;

use super::{Place, can_try, effects, said};

#[test]
fn setup_is_seen_by_the_job_and_is_no_effect() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    place.write("gone", "g");
    place.write("kept", "old\n");
    std::fs::create_dir_all(place.work.join("full/deep")).unwrap();
    place.write("full/x", "x");
    let setup = vec![
        SceneEdit::Write { path: "sub/new".into(), content: b"set\n".to_vec(), mode: Some(0o640) },
        SceneEdit::Write { path: place.work.join("kept"), content: b"up\n".to_vec(), mode: None },
        SceneEdit::Remove { path: "gone".into() },
        SceneEdit::Remove { path: "was/never/there".into() },
        SceneEdit::Empty { path: "full".into() },
        SceneEdit::MakeFolder { path: "a/b/c".into() },
        SceneEdit::Mode { path: "kept".into(), mode: 0o600 },
    ];
    let order = BoxOrder {
        setup: setup.clone(),
        ..place.shell("cat sub/new kept; ls -A . full; stat -c %a sub/new kept")
    };
    let run = place.run(&order);
    let text = "set\nup\n.:\na\nfull\nkept\nsub\n\nfull:\n640\n600\n";
    assert_eq!(said(&run), (0, text.to_owned(), String::new()));
    assert_eq!(effects(&run, &place.work), []);
    let order = BoxOrder {
        setup,
        ..place.shell(
            "echo more >> kept; rm sub/new; echo x > full/x; echo back > gone; rmdir a/b/c; echo old > kept2",
        )
    };
    let expected = [
        ("a/b/c", Change::Deleted),
        ("full/x", Change::Created),
        ("gone", Change::Created),
        ("kept", Change::Appended),
        ("kept2", Change::Created),
        ("sub/new", Change::Deleted),
    ];
    let expected: Vec<_> = expected.map(|(name, change)| (name.to_owned(), change)).into();
    assert_eq!(effects(&place.run(&order), &place.work), expected);
    assert_eq!(std::fs::read_to_string(place.work.join("kept")).unwrap(), "old\n");
    assert!(place.work.join("full/x").exists() && !place.work.join("a").exists());
}

#[test]
fn a_setup_that_cannot_be_made_is_an_error() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    place.write("file", "x");
    let setup = vec![SceneEdit::MakeFolder { path: "file/below".into() }];
    let error = place.runner.run(&BoxOrder { setup, ..place.shell("true") }).unwrap_err();
    assert!(error.to_string().contains("set up file/below"), "{error}");
}

#[test]
fn setup_follows_links_inside_the_box_only() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let target = place.write("target", "safe\n");
    std::os::unix::fs::symlink(&target, place.work.join("link")).unwrap();
    let setup = vec![SceneEdit::Write { path: "link".into(), content: b"changed\n".to_vec(), mode: None }];
    let run = place.run(&BoxOrder { setup, ..place.shell("cat target") });
    assert_eq!(run.run.stdout.text(), "changed\n");
    assert_eq!(std::fs::read_to_string(target).unwrap(), "safe\n");
}

#[test]
fn contents_are_fetched_as_the_job_left_them() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    place.write("untouched", "same");
    let mut order = place.shell(
        "echo new > made; ln -s made link; mkfifo fifo; mkdir folder; ln -s /proc/1/environ sly; head -c 2000000 /dev/zero > big",
    );
    order.fetch = ["made", "link", "fifo", "folder", "sly", "big", "untouched", "nowhere", "/dev/zero"]
        .map(Into::into)
        .into();
    let run = place.run(&order);
    let fetched: Vec<_> =
        run.fetched.iter().map(|(path, content)| (path.to_str().unwrap(), content.as_slice())).collect();
    assert_eq!(fetched, [("link", &b"new\n"[..]), ("made", b"new\n"), ("untouched", b"same")]);
}

#[test]
fn environment_is_as_given_less_what_leads_out() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let mut order = place.order(&["env"]);
    for (name, value) in
        [("PLAIN", "a b"), ("SSH_AUTH_SOCK", "/x"), ("MY_API_KEY", "k"), ("LD_PRELOAD", "/x.so")]
    {
        order.env.insert(name.into(), value.into());
    }
    let text = place.run(&order).run.stdout.text();
    let mut names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.retain(|name| !matches!(*name, "PATH" | "HOME"));
    assert_eq!(names, ["PLAIN"], "{text}");
}

#[test]
fn without_a_rung_nothing_runs() {
    let place = Place::forbidding(&["overlay", "copy"]);
    assert_eq!(place.runner.rung().name, "none");
    assert!(!place.runner.rung().why_not_better.is_empty());
    assert!(place.runner.run(&place.shell("true")).is_err());
}
