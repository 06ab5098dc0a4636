//! Where the store lies.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What decides where the store lies; the program fills it from its environment.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// `$STATE_DIRECTORY`, which systemd sets for units that have one.
    pub state_directory: Option<OsString>,
    /// `$XDG_STATE_HOME`.
    pub xdg_state_home: Option<OsString>,
    /// `$HOME`; may be unset under cron and systemd.
    pub home: Option<OsString>,
    /// The effective user.
    pub uid: u32,
}

/// The folder of the store. `on_network` says whether a folder, which need not exist, would lie on a network file
/// system: SQLite's locks are not to be trusted there, so a local folder is used instead.
///
/// That [`Store::open`](crate::Store::open) checks the owner of the folder makes `/var/tmp` safe to use.
#[must_use]
pub fn choose_root(places: &Places, on_network: impl Fn(&Path) -> bool) -> PathBuf {
    let wanted = wanted(places).filter(|root| !on_network(root));
    wanted.unwrap_or_else(|| PathBuf::from(format!("/var/tmp/selfheal-{}", places.uid)))
}

fn wanted(places: &Places) -> Option<PathBuf> {
    if let Some(folder) = places.state_directory.as_ref().and_then(first_of_list) {
        // The folder is the unit's, which may be another program's that uses selfheal.
        let own = folder.file_name().is_some_and(|name| name == "selfheal");
        return Some(if own { folder } else { folder.join("selfheal") });
    }
    if places.uid == 0 {
        return Some(PathBuf::from("/var/lib/selfheal"));
    }
    let xdg = places.xdg_state_home.as_ref().map(PathBuf::from).filter(|path| path.is_absolute());
    let home = places.home.as_ref().map(PathBuf::from).filter(|path| path.is_absolute());
    Some(xdg.or_else(|| home.map(|home| home.join(".local/state")))?.join("selfheal"))
}

/// systemd separates several folders by colons.
fn first_of_list(list: &OsString) -> Option<PathBuf> {
    let first = list.as_bytes().split(|byte| *byte == b':').next()?;
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(first));
    path.is_absolute().then_some(path)
}

/// The numbers of network file systems, from statfs(2) and linux/magic.h. FUSE is among them because sshfs, s3fs and
/// the like are FUSE, and a local FUSE file system loses little by the fallback.
const NETWORK: [u64; 15] = [
    0x6969,      // NFS
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x517b,      // SMB
    0x564c,      // NCP
    0x6573_5546, // FUSE
    0x0102_1997, // 9P
    0x00c3_6400, // Ceph
    0x5346_414f, // AFS (kernel)
    0x6b41_4653, // AFS (k)
    0x7375_7245, // Coda
    0x0bd0_0bd0, // Lustre
    0x4750_4653, // GPFS
    0x7461_636f, // OCFS2
    0x0116_1970, // GFS2
];

/// Whether a folder lies, or would lie, on a network file system.
#[must_use]
pub fn on_network(folder: &Path) -> bool {
    let kind = folder.ancestors().find_map(|path| rustix::fs::statfs(path).ok());
    // The type's size and sign differ between platforms; the numbers have 32 bits.
    kind.is_some_and(|fs| NETWORK.contains(&((fs.f_type as u64) & 0xffff_ffff)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(uid: u32) -> Places {
        Places { home: Some("/home/ann".into()), uid, ..Places::default() }
    }

    fn local(places: &Places) -> PathBuf {
        choose_root(places, |_| false)
    }

    #[test]
    fn each_kind_of_user_has_a_place() {
        assert_eq!(local(&places(0)), Path::new("/var/lib/selfheal"));
        assert_eq!(local(&places(7)), Path::new("/home/ann/.local/state/selfheal"));
        let xdg = Places { xdg_state_home: Some("/state".into()), ..places(7) };
        assert_eq!(local(&xdg), Path::new("/state/selfheal"));
        let relative = Places { xdg_state_home: Some("state".into()), ..places(7) };
        assert_eq!(local(&relative), Path::new("/home/ann/.local/state/selfheal"));
        assert_eq!(local(&Places { uid: 7, ..Places::default() }), Path::new("/var/tmp/selfheal-7"));
    }

    #[test]
    fn under_systemd_the_unit_decides() {
        let unit = |text: &str| Places { state_directory: Some(text.into()), ..places(0) };
        assert_eq!(local(&unit("/var/lib/selfheal:/var/lib/x")), Path::new("/var/lib/selfheal"));
        assert_eq!(local(&unit("/var/lib/app")), Path::new("/var/lib/app/selfheal"));
        assert_eq!(local(&unit("")), Path::new("/var/lib/selfheal"));
    }

    #[test]
    fn on_a_network_file_system_a_local_folder_is_used() {
        let root = choose_root(&places(7), |path| path.starts_with("/home"));
        assert_eq!(root, Path::new("/var/tmp/selfheal-7"));
    }
}
