//! What lies below a box: mounts of all kinds, and files with several names.

use selfheal_core::effects::Change;
use selfheal_core::run::Ended;

use super::{Place, can_try, effects, is_root, said};

/// A place whose boxes are built where more is mounted below the job's folder: `tmp`, a file system in memory with a
/// `deep` one in it; `sealed`, which is read-only; `layered`, an overlay; `file`, a single file.
fn with_mounts() -> Place {
    let unshare = if is_root() { "unshare -m --propagation private" } else { "unshare -rm" };
    Place::by(|program| {
        format!(
            "exec {unshare} sh -ec 'work=${{0%/*}}; cd \"$work\"; mkdir -p tmp sealed lower/below layered; touch file
             mount -t tmpfs none tmp; mkdir tmp/deep; echo t > tmp/t; mount -t tmpfs none tmp/deep; echo d > tmp/deep/d
             mount -t tmpfs none sealed; echo s > sealed/s; mount -o remount,ro,bind sealed
             echo l > lower/below/l; mkdir -p tmp/u tmp/w
             mount -t overlay none -o lowerdir=lower,upperdir=tmp/u,workdir=tmp/w$1 layered
             echo f > tmp/f; mount --bind tmp/f file
             shift; exec {program} \"$@\"' \"$0\" '{}' \"$@\"",
            if is_root() { "" } else { ",userxattr" }
        )
    })
}

#[test]
fn mounts_below_the_root_are_in_the_box_too() {
    let place = with_mounts();
    if !can_try(&place) {
        return;
    }
    let line = "cat tmp/t tmp/deep/d sealed/s layered/below/l file
        echo x > tmp/new; rm tmp/deep/d; echo new > tmp/deep/new; echo more >> layered/below/l; mkdir layered/made
        rm -r layered/below; echo x > layered/made/x; mkdir here; echo x > here/x";
    let run = place.sh(line);
    assert_eq!(said(&run), (0, "t\nd\ns\nl\nf\n".to_owned(), String::new()));
    let expected = [
        ("here", Change::CreatedFolder),
        ("here/x", Change::Created),
        ("layered/below", Change::Deleted),
        ("layered/below/l", Change::Deleted),
        ("layered/made", Change::CreatedFolder),
        ("layered/made/x", Change::Created),
        ("tmp/deep/d", Change::Deleted),
        ("tmp/deep/new", Change::Created),
        ("tmp/new", Change::Created),
    ];
    let expected: Vec<_> = expected.map(|(name, change)| (name.to_owned(), change)).into();
    assert_eq!(effects(&run, &place.work), expected);
    assert_eq!(std::fs::read_dir(place.work.join("layered")).unwrap().count(), 0);
}

/// A file system that is read-only outside stays so: what fails there for that reason fails in the box as well, and is
/// in doubt, since the box itself has more of them.
#[test]
fn read_only_mounts_stay_read_only() {
    let place = with_mounts();
    if !can_try(&place) {
        return;
    }
    for line in ["echo x > sealed/new", "echo x >> sealed/s", "rm sealed/s", "chmod 777 sealed/s"] {
        let run = place.sh(line);
        assert_ne!(run.run.ended, Ended::Exited(0), "{line}");
        assert!(run.inconclusive.as_deref().unwrap_or_default().contains("read-only"), "{:?}", said(&run));
        assert_eq!(effects(&run, &place.work), [], "{line}");
    }
}

/// The machine keeps the names of a file together and the box cannot: a job that fails after it wrote to one of them may
/// fail for that.
#[test]
fn a_failure_after_writing_to_a_file_with_several_names_is_in_doubt() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let file = place.write("file", "old\n");
    std::fs::hard_link(&file, place.work.join("other")).unwrap();
    let run = place.sh("echo new >> file; cmp file other");
    assert!(run.inconclusive.as_deref().unwrap_or_default().contains("several names"), "{:?}", said(&run));
    let run = place.sh("echo new >> file");
    assert_eq!((run.inconclusive, run.run.ended), (None, Ended::Exited(0)));
    let run = place.sh("cmp file nowhere");
    assert_eq!(run.inconclusive, None);
}
