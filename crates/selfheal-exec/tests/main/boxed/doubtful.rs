//! Failures that the box may be the reason for, met with real programs: none of them counts against the job.

use std::os::unix::fs::PermissionsExt;

use selfheal_core::ports::BoxOrder;
use selfheal_core::run::Ended;

use super::{Place, can_try, is_root, said};

/// Runs a line that must fail, in doubt for a reason that holds a text.
fn in_doubt(place: &Place, order: &BoxOrder, word: &str) {
    let run = place.run(order);
    assert_ne!(run.run.ended, Ended::Exited(0), "{:?}", said(&run));
    let why = run.inconclusive.clone().unwrap_or_default();
    assert!(why.contains(word), "{word}: {why:?} {:?}", said(&run));
}

/// A file that an ordinary user may write and that belongs to somebody else: his box cannot store that. Root makes one
/// for him (see [`super::everything_holds_for_an_ordinary_user`]).
#[test]
fn an_owner_that_cannot_be_stored() {
    let place = Place::new();
    let (false, Some(shared)) = (is_root(), std::env::var_os(super::SHARED_VARIABLE)) else {
        println!("skipped: only root can make such a file for an ordinary user");
        return;
    };
    if can_try(&place) {
        // Told by a file, or the box would see it coming and lay an overlay of its own over the folder.
        place.write("where", shared.to_str().unwrap());
        in_doubt(
            &place,
            &place.shell("read -r file < where; echo x >> \"$file\""),
            "belongs to another user",
        );
    }
}

#[test]
fn a_folder_that_cannot_be_renamed() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    std::fs::create_dir(place.work.join("old")).unwrap();
    let rename = "rename('old', 'new') or do { print STDERR \"rename: $!\\n\"; exit 1 }";
    in_doubt(&place, &place.order(&["perl", "-e", rename]), "cannot move this folder");
    // `mv` copies it.
    assert_eq!(place.sh("mv old new && test -d new && ! test -e old").run.ended, Ended::Exited(0));
}

#[test]
fn programs_that_would_gain_rights() {
    let place = Place::new();
    if !can_try(&place) || is_root() {
        return;
    }
    if !std::path::Path::new("/bin/su").exists() {
        println!("skipped: there is no su");
        return;
    }
    in_doubt(&place, &place.shell("su -c true < /dev/null"), "setuid");
}

#[test]
fn rights_that_even_root_lacks() {
    let place = Place::new();
    if !can_try(&place) || !is_root() {
        return;
    }
    in_doubt(&place, &place.shell("mkdir m; mount -t tmpfs none m"), "refuses this even to root");
    in_doubt(
        &place,
        &place.shell("hostname \"$(hostname)\"; nice -n -5 true; chroot / true"),
        "even to root",
    );
}

#[test]
fn a_network_that_is_missing() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let connect = "use IO::Socket::INET; IO::Socket::INET->new(PeerAddr => '192.0.2.1:80', Timeout => 5) \
        or do { print STDERR \"connect: $!\\n\"; exit 1 }";
    in_doubt(&place, &place.order(&["perl", "-e", connect]), "no network");
    in_doubt(&place, &place.shell("exec 3<>/dev/tcp/127.0.0.1/1"), "no network");
    in_doubt(&place, &place.shell("exec 3<>/dev/tcp/selfheal.example/80"), "no network");
}

#[test]
fn a_secret_that_is_missing() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let home = place.work.join("home");
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    std::fs::write(home.join(".ssh/id"), "key").unwrap();
    std::fs::set_permissions(home.join(".ssh/id"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut order = place.shell("cat \"$HOME/.ssh/id\"");
    order.env.insert("HOME".into(), home.clone().into());
    in_doubt(&place, &order, ".ssh is hidden");
    let mut order = place.shell("echo \"${DEPLOY_TOKEN:?is not set}\"");
    order.env.insert("DEPLOY_TOKEN".into(), "hush".into());
    in_doubt(&place, &order, "DEPLOY_TOKEN");
    let mut order = place.shell("echo \"${DEPLOY_FOLDER:?is not set}\"");
    order.env.insert("DEPLOY_TOKEN".into(), "hush".into());
    assert_eq!(place.run(&order).inconclusive, None);
}
