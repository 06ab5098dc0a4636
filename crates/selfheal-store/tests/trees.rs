//! Property: whatever is changed, undoing it gives the tree that was there before.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use selfheal_core::incident::StoredChange;
use selfheal_core::ports::{Snapshots, Standing};

use crate::helpers::{Place, id};

/// A file of the tree: content, mode, second of its last change, and whether it has a second name.
#[derive(Clone, Debug)]
struct Plan {
    content: Option<Vec<u8>>,
    mode: u32,
    second: u32,
    linked: bool,
    after: Option<Vec<u8>>,
    mode_after: Option<u32>,
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let content = || proptest::option::weighted(0.8, proptest::collection::vec(any::<u8>(), 0..200));
    // The owner may read and write; everything else may be anything, setuid and sticky included.
    let mode = (0_u32..0o10000).prop_map(|mode| mode | 0o600);
    let plan = (content(), mode.clone(), any::<u32>(), any::<bool>(), content(), proptest::option::of(mode))
        .prop_map(|(content, mode, second, linked, after, mode_after)| Plan {
            content,
            mode,
            second,
            linked,
            after,
            mode_after,
        });
    proptest::collection::vec(plan, 1..5)
}

type Seen = BTreeMap<PathBuf, (u32, i64, i64, u64, Vec<u8>)>;

fn tree(folder: &Path) -> Seen {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let content = fs::read(&path).unwrap();
            (path, (meta.mode(), meta.mtime(), meta.mtime_nsec(), meta.nlink(), content))
        })
        .collect()
}

fn lay_out(folder: &Path, plans: &[Plan]) {
    for (number, plan) in plans.iter().enumerate() {
        let Some(content) = &plan.content else { continue };
        let path = folder.join(format!("file {number}"));
        fs::write(&path, content).unwrap();
        if plan.linked {
            fs::hard_link(&path, folder.join(format!("other {number}"))).unwrap();
        }
        let when =
            SystemTime::UNIX_EPOCH + Duration::new(u64::from(plan.second), plan.second % 1_000_000_000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(when).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(plan.mode)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_and_its_undoing_leave_the_tree_equal(plans in plans()) {
        let place = Place::new();
        let store = place.open();
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path(), &plans);
        let before = tree(folder.path());
        let changes: Vec<StoredChange> = plans
            .iter()
            .enumerate()
            .map(|(number, plan)| StoredChange {
                path: folder.path().join(format!("file {number}")),
                before: plan.content.as_ref().map(|content| store.save(content).unwrap()),
                after: plan.after.as_ref().map(|content| store.save(content).unwrap()),
                mode_before: plan.content.as_ref().map(|_| plan.mode),
                mode_after: plan.mode_after.filter(|_| plan.after.is_some()),
                new_folders: 0,
            })
            .collect();
        for (change, plan) in changes.iter().zip(&plans) {
            store.take(&id(1), &change.path).unwrap();
            store.apply(&id(1), change).unwrap();
            prop_assert_eq!(store.state_of(change).unwrap(), Standing::After);
            prop_assert_eq!(fs::read(&change.path).ok(), plan.after.clone());
            if let (Some(mode), Some(_)) = (change.mode_after, &plan.after) {
                prop_assert_eq!(fs::metadata(&change.path).unwrap().mode() & 0o7777, mode);
            }
        }
        for change in changes.iter().rev() {
            store.put_back(&id(1), change).unwrap();
        }
        let names = |seen: &Seen| seen.keys().cloned().collect::<Vec<_>>();
        let after = tree(folder.path());
        prop_assert_eq!(names(&after), names(&before));
        for (path, was) in &before {
            let is = &after[path];
            // A name that was removed comes back as a file of its own: that it was a second name is not saved.
            let unlinked = is.3 != was.3;
            prop_assert!(!unlinked || plans.iter().any(|plan| plan.linked && plan.after.is_none()));
            prop_assert_eq!((is.0, is.1, is.2, &is.4), (was.0, was.1, was.2, &was.4), "{}", path.display());
        }
    }
}
