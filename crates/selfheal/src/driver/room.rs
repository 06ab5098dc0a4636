//! The room that the trials of one incident have: a tenth of the free disk, less where the settings say so, and where boxes
//! are copies on the disk a GiB stays free.

use std::path::Path;

use selfheal_core::effects::Change;
use selfheal_core::ports::{BoxOrder, BoxedRun};
use selfheal_core::run::Ended;

use super::trial::MOST_TRIALS;
use super::{Healer, Tools, parallel};

/// The part of the free disk, and what stays free of it.
const PART: u64 = 10;
const STAYS_FREE: u64 = 1 << 30;
/// With less than this nothing is tried.
const LEAST: u64 = 64 << 10;

/// The room at the beginning of an incident.
pub(super) fn of(tools: &Tools) -> u64 {
    let copies = tools.boxes.rung().name == "copy";
    on_disk(&tools.context.state, tools.context.settings.limits.trial_bytes, copies)
}

/// The room on the disk that a folder is on; all of it where the disk cannot be looked at.
fn on_disk(folder: &Path, most: u64, copies: bool) -> u64 {
    let Ok(facts) = rustix::fs::statvfs(folder) else { return most };
    let free = facts.f_bavail.saturating_mul(facts.f_frsize);
    let spare = if copies { free.saturating_sub(STAYS_FREE) } else { free };
    most.min(free / PART).min(spare)
}

impl Healer<'_> {
    /// Whether another trial has room.
    pub(super) fn has_room(&self) -> bool {
        self.room >= LEAST
    }

    /// Counts what a boxed run wrote, and ends trials after one that ran into its time limit.
    pub(super) fn count(&mut self, boxed: &BoxedRun) {
        let wrote = |change: Change| matches!(change, Change::Created | Change::Changed | Change::Appended);
        let bytes: u64 =
            boxed.effects.iter().filter(|effect| wrote(effect.change)).map(|effect| effect.len).sum();
        self.room = self.room.saturating_sub(bytes);
        if matches!(boxed.run.ended, Ended::TimedOut { .. }) {
            // What ran into its limit once would do so in every further trial, and the job waits meanwhile.
            self.trials = MOST_TRIALS;
        }
    }

    /// Runs orders at once; together they get the room that is left.
    pub(super) fn run_all(&mut self, mut orders: Vec<Option<BoxOrder>>) -> Vec<Option<BoxedRun>> {
        let share = self.room / parallel::width().max(1) as u64;
        for order in orders.iter_mut().flatten() {
            order.limits.most_room = Some(share);
        }
        let runs = parallel::run_all(self.tools.boxes, &orders);
        for run in runs.iter().flatten() {
            self.count(run);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::path::PathBuf;

    use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

    use super::*;

    /// A real file system of its own, which is gone with it.
    struct Disk(tempfile::TempDir, PathBuf);

    impl Disk {
        fn of_mib(mib: u64) -> Option<Self> {
            let folder = tempfile::tempdir().unwrap();
            let at = folder.path().join("disk");
            std::fs::create_dir(&at).unwrap();
            let size = CString::new(format!("size={mib}m")).unwrap();
            // No process is started for it: one would hold the locks of tests beside this one for a moment.
            let mounted = mount("none", &at, "tmpfs", MountFlags::empty(), size.as_c_str());
            mounted.is_ok().then_some(Self(folder, at))
        }
    }

    impl Drop for Disk {
        fn drop(&mut self) {
            let _ = unmount(&self.1, UnmountFlags::DETACH);
        }
    }

    #[test]
    fn copies_leave_a_gib_of_the_disk_free_and_everything_takes_a_tenth_at_most() {
        const MIB: u64 = 1 << 20;
        // Size of the disk, room for copies, room where nothing is copied.
        for (disk, copies, other) in [(512, 0, 51), (1_024 + 60, 60, 108), (4_096, 409, 409)] {
            let Some(small) = Disk::of_mib(disk) else {
                eprintln!("skipped: nothing can be mounted here");
                return;
            };
            assert_eq!(on_disk(&small.1, u64::MAX, true) / MIB, copies, "{disk} MiB, copies");
            assert_eq!(on_disk(&small.1, u64::MAX, false) / MIB, other, "{disk} MiB");
            assert_eq!(on_disk(&small.1, 7 * MIB, false), 7 * MIB, "what the settings say is less");
            assert!(small.0.path().exists());
        }
    }

    #[test]
    fn a_disk_that_cannot_be_looked_at_is_left_to_the_settings() {
        assert_eq!(on_disk(Path::new("/no/such/folder"), 7, true), 7);
    }
}
