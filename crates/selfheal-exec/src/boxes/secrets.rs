//! Where secrets lie: paths that are always hidden in a box.

use std::path::{Path, PathBuf};

/// In each home folder. Sources: the manuals of the programs that keep keys there.
const IN_HOME: [&str; 22] = [
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/rclone",
    ".config/op",
    ".local/share/keyrings",
    ".password-store",
    ".vault-token",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials.toml",
    ".terraform.d/credentials.tfrc.json",
];

/// On the machine.
const ON_MACHINE: [&str; 8] = [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/shadow-",
    "/etc/gshadow-",
    "/etc/ssl/private",
    "/etc/sudoers.d",
    "/etc/krb5.keytab",
    "/run/credentials",
];

/// Homes that are looked at, when the box is one of root.
const MOST_HOMES: usize = 64;

/// The paths to hide for a user whose home is `home`. Root can read every home that `passwd` (the text of
/// `/etc/passwd`) names, so all of them count for him. `more` are further ones: relative paths are in each home.
pub(crate) fn paths(home: Option<&Path>, passwd: &str, uid: u32, more: &[PathBuf]) -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = home.map(Path::to_path_buf).into_iter().collect();
    for line in passwd.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let (Some(number), Some(folder)) = (fields.get(2), fields.get(5)) else { continue };
        let mine = number.parse() == Ok(uid);
        let known = homes.iter().any(|home| home == Path::new(folder));
        if (mine || uid == 0) && !known && folder.len() > 1 && homes.len() < MOST_HOMES {
            homes.push(PathBuf::from(folder));
        }
    }
    let names = || IN_HOME.iter().map(Path::new).chain(more.iter().map(PathBuf::as_path));
    // An absolute path stays itself in every home.
    let in_homes = homes.iter().flat_map(|home| names().map(|name| home.join(name)));
    let mut all: Vec<PathBuf> = in_homes.chain(ON_MACHINE.map(PathBuf::from)).collect();
    all.extend(more.iter().filter(|path| path.is_absolute()).cloned());
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nme:x:1000:1000::/home/me:/bin/sh\nodd line\n";

    #[test]
    fn root_hides_every_home_and_a_user_his_own() {
        let root = paths(None, PASSWD, 0, &["/srv/keys".into(), ".mine".into()]);
        assert!(root.contains(&"/root/.ssh".into()) && root.contains(&"/home/me/.netrc".into()));
        assert!(root.contains(&"/srv/keys".into()) && root.contains(&"/home/me/.mine".into()));
        let me = paths(Some(Path::new("/srv/me")), PASSWD, 1000, &[]);
        assert!(me.contains(&"/srv/me/.aws".into()) && me.contains(&"/home/me/.ssh".into()));
        assert!(!me.contains(&"/root/.ssh".into()) && me.contains(&"/etc/shadow".into()));
    }
}
