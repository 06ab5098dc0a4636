//! What stands around a file that a repair would change: the facts that the guard's circumstances are judged by.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use selfheal_core::ports::Clock;
use selfheal_guard::Surroundings;

use crate::command_error::CommandError;
use crate::context::Context;

/// Names whose presence in a git tree says that a machine puts the tree there.
const DEPLOY_MARKERS: [&str; 5] = [".deploy", ".deployed", "REVISION", ".capistrano", ".deploy-marker"];

/// Where dpkg keeps which package owns what (`dpkg-query(1)`).
const DPKG_LISTS: &str = "/var/lib/dpkg/info";

/// Looks around a file. A file that does not exist yet is looked at by its folder.
///
/// # Errors
/// When neither can be looked at: then it must be held, not passed.
pub fn of(context: &Context, path: &Path) -> Result<Surroundings, CommandError> {
    let machine = Machine {
        now_ms: context.clock.now().0,
        user: context.uid,
        package_lists: Path::new(DPKG_LISTS),
        on_network: &selfheal_store::on_network,
    };
    look(&machine, path)
}

/// What is asked of the machine besides the file itself.
struct Machine<'a> {
    now_ms: i64,
    user: u32,
    package_lists: &'a Path,
    on_network: &'a dyn Fn(&Path) -> bool,
}

fn look(machine: &Machine<'_>, path: &Path) -> Result<Surroundings, CommandError> {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let looked =
        if real.exists() { real.clone() } else { real.parent().map(Path::to_path_buf).unwrap_or_default() };
    let facts = std::fs::metadata(&looked).map_err(|error| {
        CommandError::new(format!("failed to look at {}", looked.display())).because(&error)
    })?;
    Ok(Surroundings {
        now_ms: machine.now_ms,
        modified_ms: facts.mtime() * 1_000 + facts.mtime_nsec() / 1_000_000,
        written_by_us_ms: None,
        user: machine.user,
        owners: owners(&real),
        writable_by_others: writable_by_others(&real),
        package_owned: package_owned(machine.package_lists, &real),
        deployed_tree: deployed_tree(&real),
        network: (machine.on_network)(&looked),
        head: head(&real),
    })
}

/// The permission bits of a file; `None` where there is none.
#[must_use]
pub fn mode_of(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|facts| facts.mode() & 0o7777)
}

/// The owners of a file and of the folders above it, the file first.
fn owners(path: &Path) -> Vec<u32> {
    path.ancestors()
        .filter_map(|place| std::fs::symlink_metadata(place).ok())
        .map(|facts| facts.uid())
        .collect()
}

/// Whether anybody else may write the file, or put another in its place through a folder above it. In a sticky folder
/// (`/tmp`) only owners may.
fn writable_by_others(path: &Path) -> bool {
    path.ancestors().filter_map(|place| std::fs::symlink_metadata(place).ok()).any(|facts| {
        let everybody = facts.mode() & 0o002 != 0 && facts.mode() & 0o1000 == 0;
        let group = facts.mode() & 0o020 != 0 && facts.mode() & 0o1000 == 0 && group_has_others(&facts);
        !facts.file_type().is_symlink() && (everybody || group)
    })
}

/// Whether a group has members besides the owner: by the group file, and by the users whose own group it is. What
/// cannot be read counts as having some.
fn group_has_others(facts: &std::fs::Metadata) -> bool {
    let (Ok(groups), Ok(users)) =
        (std::fs::read_to_string("/etc/group"), std::fs::read_to_string("/etc/passwd"))
    else {
        return true;
    };
    let number = facts.gid().to_string();
    let field = |line: &str, at: usize| line.split(':').nth(at).unwrap_or_default().to_owned();
    let owner: String = users
        .lines()
        .find(|line| field(line, 2) == facts.uid().to_string())
        .map(|line| field(line, 0))
        .unwrap_or_default();
    let named = groups
        .lines()
        .filter(|line| field(line, 2) == number)
        .flat_map(|line| field(line, 3).split(',').map(str::to_owned).collect::<Vec<_>>())
        .any(|member| !member.is_empty() && member != owner && member != "root");
    let own = users.lines().any(|line| {
        field(line, 3) == number && !matches!(field(line, 0), name if name == owner || name == "root")
    });
    named || own
}

/// Whether a package owns the file, by dpkg's own lists; only looked up in system folders. Where there are no such lists,
/// what lies in folders that only packages fill counts as theirs.
fn package_owned(lists: &Path, path: &Path) -> bool {
    let system =
        ["/usr", "/etc", "/lib", "/bin", "/sbin", "/opt"].iter().any(|folder| path.starts_with(folder));
    if !system || path.starts_with("/usr/local") {
        return false;
    }
    let Ok(lists) = std::fs::read_dir(lists) else {
        return !path.starts_with("/etc") && !path.starts_with("/opt");
    };
    let wanted = path.to_string_lossy().into_owned();
    lists
        .flatten()
        .map(|entry| entry.path())
        .filter(|list| list.extension().is_some_and(|ext| ext == "list" || ext == "conffiles"))
        .any(|list| std::fs::read_to_string(list).is_ok_and(|text| text.lines().any(|line| line == wanted)))
}

/// Whether the file is in a git tree that a machine deploys.
fn deployed_tree(path: &Path) -> bool {
    let tree = path.ancestors().skip(1).find(|folder| folder.join(".git").exists()).map(PathBuf::from);
    tree.is_some_and(|tree| DEPLOY_MARKERS.iter().any(|marker| tree.join(marker).exists()))
}

fn head(path: &Path) -> String {
    use std::io::Read;
    let mut start = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        let _ = file.take(2_048).read_to_end(&mut start);
    }
    String::from_utf8_lossy(&start).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_core::admission::Hold;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A folder that only its owner can write, with a script in it.
    fn script(text: &str) -> (tempfile::TempDir, PathBuf) {
        let keep = tempfile::tempdir().unwrap();
        fs::set_permissions(keep.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let path = keep.path().canonicalize().unwrap().join("job.sh");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        (keep, path)
    }

    #[test]
    fn a_git_tree_holds_only_with_a_deploy_marker() {
        let (keep, path) = script("true\n");
        assert!(!deployed_tree(&path));
        fs::create_dir(keep.path().join(".git")).unwrap();
        assert!(!deployed_tree(&path));
        for marker in DEPLOY_MARKERS {
            fs::write(keep.path().join(marker), "").unwrap();
            assert!(deployed_tree(&path), "{marker}");
            fs::remove_file(keep.path().join(marker)).unwrap();
        }
    }

    #[test]
    fn a_file_or_a_folder_above_it_that_anybody_may_write_holds() {
        let (keep, path) = script("true\n");
        let mode = |at: &Path, mode| fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
        assert!(!writable_by_others(&path));
        mode(&path, 0o606);
        assert!(writable_by_others(&path));
        mode(&path, 0o600);
        mode(keep.path(), 0o777);
        assert!(writable_by_others(&path));
        // In a sticky folder nobody can put another file in its place.
        mode(keep.path(), 0o1777);
        assert!(!writable_by_others(&path));
    }

    #[test]
    fn what_a_package_lists_is_its_own() {
        let lists = tempfile::tempdir().unwrap();
        fs::write(lists.path().join("tool.list"), "/.\n/usr\n/usr/share/tool/nightly.sh\n").unwrap();
        fs::write(lists.path().join("tool.conffiles"), "/etc/tool/run.sh\n").unwrap();
        fs::write(lists.path().join("tool.md5sums"), "0  /usr/share/tool/other.sh\n").unwrap();
        let owned = |path: &str| package_owned(lists.path(), Path::new(path));
        assert!(owned("/usr/share/tool/nightly.sh") && owned("/etc/tool/run.sh"));
        assert!(
            !owned("/usr/share/tool/other.sh") && !owned("/usr/local/bin/run.sh") && !owned("/srv/run.sh")
        );
    }

    #[test]
    fn without_lists_the_folders_of_packages_are_theirs() {
        let none = Path::new("/nonexistent/lists");
        assert!(package_owned(none, Path::new("/usr/share/tool/run.sh")));
        for own in ["/usr/local/bin/run.sh", "/etc/cron.daily/run", "/opt/job/run.sh", "/srv/run.sh"] {
            assert!(!package_owned(none, Path::new(own)), "{own}");
        }
    }

    #[test]
    fn a_file_that_lies_on_a_network_by_a_link_is_held() {
        let (keep, path) = script("true\n");
        let link = keep.path().join("link.sh");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let owner = fs::metadata(&path).unwrap().uid();
        let holds = |at: &Path, network: &dyn Fn(&Path) -> bool| {
            let lists = Path::new(DPKG_LISTS);
            let machine =
                Machine { now_ms: i64::MAX, user: owner, package_lists: lists, on_network: network };
            selfheal_guard::circumstances(&look(&machine, at).unwrap())
        };
        assert_eq!(
            holds(&link, &|asked| asked == path),
            [Hold::NetworkFileSystem],
            "the place it leads to is asked"
        );
        assert_eq!(holds(&link, &|_| false), []);
        // One that is not there yet is looked at by its folder.
        assert_eq!(holds(&keep.path().join("new.sh"), &|asked| asked.is_dir()), [Hold::NetworkFileSystem]);
    }

    #[test]
    fn the_head_of_a_file_says_who_writes_it() {
        let (_keep, path) = script("#!/bin/sh\n# This file is managed by Puppet. Do not edit.\ntrue\n");
        let around = Surroundings { head: head(&path), now_ms: i64::MAX, ..Surroundings::default() };
        assert_eq!(selfheal_guard::circumstances(&around), [Hold::Managed]);
    }
}
