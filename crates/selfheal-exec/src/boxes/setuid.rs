//! Programs that gain rights by their mode on this machine, and so do less in a box.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;

use selfheal_core::ports::BoxOrder;

use crate::find;

/// Programs that are often installed so: util-linux, shadow, sudo, iputils, fuse, polkit, cron, at, screen.
const USUAL: [&str; 20] = [
    "at",
    "chage",
    "chfn",
    "chsh",
    "crontab",
    "dbus-daemon-launch-helper",
    "doas",
    "fusermount",
    "fusermount3",
    "gpasswd",
    "mount",
    "newgrp",
    "passwd",
    "ping",
    "pkexec",
    "screen",
    "su",
    "sudo",
    "umount",
    "write",
];

/// Those of them that an order's job would find and that gain rights here. None for root.
pub(crate) fn programs(order: &BoxOrder) -> Vec<String> {
    if rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    let search = order.env.get(OsStr::new("PATH")).map(|search| search.as_os_str());
    let gains = |name: &&&str| {
        let found = find::command(OsStr::new(name), &order.cwd, search);
        found
            .ok()
            .and_then(|path| path.metadata().ok())
            .is_some_and(|facts| facts.permissions().mode() & 0o6000 != 0)
    };
    USUAL.iter().filter(gains).map(|name| (*name).to_owned()).collect()
}
