//! Makes a draft out of the upper folders of a box, in the box's outer process: what the job wrote lies in a file system
//! that is gone when that process ends.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, linkat};
use rustix::time::{ClockId, clock_gettime};
use selfheal_core::effects::{Change, Effect};

use super::at::{At, own_folder};
use super::copy;
use super::draft::{Act, Draft, Entry, Remark, SLOTS, Standing};
use super::facts::Facts;
use super::meta::Meta;
use crate::boxes::Raw;
use crate::effects::{Layer, Listing, Marks};

/// Bits that give whoever starts a file the rights of its owner or group.
const RIGHTS: u32 = 0o6000;

/// The attribute that gives whoever starts a file capabilities.
const CAPABILITY: &[u8] = b"security.capability";

/// A clock tick is never longer.
const LONGEST_TICK: Duration = Duration::from_millis(50);

fn read(clock: ClockId) -> (i64, i64) {
    let time = clock_gettime(clock);
    (time.tv_sec, time.tv_nsec)
}

/// What the time is now, by the clock that is finer than that of file systems.
pub(crate) fn now() -> (i64, i64) {
    read(ClockId::Realtime)
}

/// A moment, now, of which it is certain that every change until `earlier` has an earlier time stamp, and every one from now
/// on not. What was changed in between may count as changed later.
///
/// File systems stamp with a coarse clock, so this waits for it to move on: the earlier `earlier` is, the shorter.
pub(crate) fn moment(earlier: (i64, i64)) -> (i64, i64) {
    let began = Instant::now();
    loop {
        let coarse = read(ClockId::RealtimeCoarse);
        if coarse > earlier || began.elapsed() > LONGEST_TICK {
            return coarse;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// What a draft is made from.
pub(crate) struct Export<'a> {
    /// The folder of the draft.
    pub folder: &'a Path,
    /// The overlays.
    pub layers: &'a [Layer],
    pub marks: Marks,
    /// The moment before the job started.
    pub since: (i64, i64),
}

impl Export<'_> {
    /// Makes the draft; gives why it could not be made.
    pub(crate) fn make(&self, listing: &Listing, head: Draft) -> Result<(), String> {
        if !listing.complete {
            return Err("what it did could not be listed completely".to_owned());
        }
        self.write(listing, head).map_err(|error| {
            // What is left of it is of no use; a later start removes what stays behind.
            let _ = super::at::remove_folder(self.folder);
            format!("what it did could not be kept: {error}")
        })
    }

    fn write(&self, listing: &Listing, mut head: Draft) -> io::Result<()> {
        Draft::make_folder(self.folder)?;
        let slots = own_folder(&self.folder.join(SLOTS))?;
        let mut known = HashMap::new();
        for effect in &listing.effects {
            if head.entries.last().is_some_and(|last: &Entry| last.path == effect.path) {
                // A file became a folder, or the other way round: one entry says it.
                continue;
            }
            let slot = At::new(slots.clone(), head.entries.len().to_string());
            head.entries.push(self.entry(effect, &slot, &mut known)?);
        }
        head.state = Standing::Kept;
        head.save_first(self.folder)
    }

    fn entry(&self, effect: &Effect, slot: &At, known: &mut HashMap<(u64, u64), At>) -> io::Result<Entry> {
        let base = Facts::of(&effect.path)?;
        let (mut act, mut remark) = (Act::Remove, None);
        if effect.change != Change::Deleted {
            let upper = self.upper(&effect.path).ok_or(io::ErrorKind::NotFound)?;
            let new = fs::symlink_metadata(&upper)?;
            (act, remark) = self.act(effect, (&upper, &new), base.as_ref(), slot)?;
            if new.is_file() && new.nlink() > 1 && act == Act::Put {
                link_up(slot, (new.dev(), new.ino()), known)?;
            }
        }
        let disturbed = base.as_ref().is_some_and(|base| match effect.change {
            Change::Created => true,
            Change::CreatedFolder if base.is_folder() => true,
            _ => !base.is_folder() && base.touched >= self.since,
        });
        let (path, change) = (effect.path.clone(), effect.change);
        Ok(Entry { path, change, len: effect.len, remark, act, base, disturbed })
    }

    fn act(
        &self,
        effect: &Effect,
        (upper, new): (&Path, &fs::Metadata),
        base: Option<&Facts>,
        slot: &At,
    ) -> io::Result<(Act, Option<Remark>)> {
        let kind = FileType::from_raw_mode(new.mode());
        if !matches!(kind, FileType::RegularFile | FileType::Directory | FileType::Symlink | FileType::Fifo) {
            return Ok((Act::Leave, Some(Remark::NotAFile)));
        }
        let from = at_of(upper)?;
        let old = base.map(|_| at_of(&effect.path).and_then(|at| Meta::read(at.stand()?))).transpose()?;
        let (meta, cut) = self.meta(&from, old.as_ref())?;
        let remark = cut.then_some(Remark::RightsLeftOut);
        let same_kind = base.is_some_and(|base| base.mode & 0o170_000 == new.mode() & 0o170_000);
        match (old, base) {
            (Some(old), _) if same_kind && (effect.change == Change::Attributes || new.is_dir()) => {
                Ok((Act::Touch(old, meta), remark))
            }
            (_, Some(base)) if same_kind && new.is_file() && base.links > 1 => {
                copy::shape(&from, slot, &meta)?;
                Ok((Act::Rewrite, remark.or(Some(Remark::SeveralNames))))
            }
            _ if new.is_dir() => {
                let open = Meta { bits: meta.bits | 0o700, ..meta.clone() };
                copy::shape(&from, slot, &open)?;
                Ok((Act::Folder(meta), remark))
            }
            _ => copy::shape(&from, slot, &meta).map(|()| (Act::Put, remark)),
        }
    }

    /// What the new thing is to have: the overlay's own marks left out, and no right to be another user that was not
    /// there before. Whether something was cut.
    fn meta(&self, from: &At, old: Option<&Meta>) -> io::Result<(Meta, bool)> {
        let mut meta = Meta::read(from.stand()?)?;
        let all = std::mem::take(&mut meta.attributes);
        meta.attributes =
            all.into_iter().filter_map(|(name, value)| Some((self.unmarked(name)?, value))).collect();
        let regular = from.facts()?.is_some_and(|facts| facts.is_file());
        let allowed = old.map_or(0, |old| old.bits) & RIGHTS;
        let extra = meta.bits & RIGHTS & !allowed;
        let capability = Raw(CAPABILITY.to_vec());
        let had = old.and_then(|old| old.attributes.get(&capability));
        let foreign = meta.attributes.get(&capability).is_some_and(|value| Some(value) != had);
        if !regular || (extra == 0 && !foreign) {
            return Ok((meta, false));
        }
        meta.bits &= !extra;
        if foreign {
            meta.attributes.remove(&capability);
        }
        Ok((meta, true))
    }

    /// The name that the job gave an attribute; `None` for the kernel's own.
    fn unmarked(&self, name: Raw) -> Option<Raw> {
        let prefix: &[u8] = match self.marks {
            Marks::Trusted => b"trusted.overlay.",
            Marks::User | Marks::Copied => b"user.overlay.",
        };
        match name.0.strip_prefix(prefix) {
            None => Some(name),
            Some(rest) => rest.strip_prefix(b"overlay.").map(|inner| Raw([prefix, inner].concat())),
        }
    }

    /// Where the job's version of a path lies: in the overlay that begins nearest to it.
    fn upper(&self, path: &Path) -> Option<PathBuf> {
        let nearest = self.layers.iter().filter(|layer| path.starts_with(&layer.at));
        let layer = nearest.max_by_key(|layer| layer.at.as_os_str().as_bytes().len())?;
        Some(layer.upper.join(path.strip_prefix(&layer.at).ok()?))
    }
}

/// A second name of a file that the job made: it becomes a second name here too.
fn link_up(slot: &At, file: (u64, u64), known: &mut HashMap<(u64, u64), At>) -> io::Result<()> {
    let Some(first) = known.get(&file) else {
        known.insert(file, slot.clone());
        return Ok(());
    };
    slot.remove()?;
    Ok(linkat(first.dir(), first.name(), slot.dir(), slot.name(), AtFlags::empty())?)
}

/// The place of a path in the box's own folders or of the machine: the job is over, and nobody else reaches the former.
fn at_of(path: &Path) -> io::Result<At> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Ok(At::new(own_folder(parent)?, name))
}
