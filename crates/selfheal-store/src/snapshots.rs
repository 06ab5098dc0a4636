//! Snapshots: files are saved before they are changed, changed, and put back exactly as they were.
//!
//! Theory of operation: `take` saves content (an object) and everything else (rows) before anything happens. `apply` and
//! `put_back` first look where the file stands; they do nothing when it is there already, and refuse when somebody made
//! something else of it. A file with one name is exchanged in one step. A file with several names keeps its inode and is
//! rewritten: that this was begun is noted in `in_place` first, so that a file half written by a crash is recognised as
//! ours (`Torn`) and both directions can finish it.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, params};
use selfheal_core::ids::{ContentHash, IncidentId};
use selfheal_core::incident::StoredChange;
use selfheal_core::ports::{PortError, Snapshots, Standing, Trouble};

use crate::folders;
use crate::journal::note_content;
use crate::objects::{self, hash_of};
use crate::place::{Found, Meta, Place, Replaced, Times, Wanted, mode_of};
use crate::values::Name;
use crate::{Durability, Store, trouble};

/// What stands for the content of a file that does not exist.
const ABSENT: &str = "absent";
/// The permission bits of a file that a repair creates without saying which.
const NEW_FILE: u32 = 0o644;
/// The permission bits that people set and see; setuid and the like are not compared.
const COMPARED: u32 = 0o777;

impl Snapshots for Store {
    fn save(&self, content: &[u8]) -> Result<ContentHash, PortError> {
        let _lock = self.lock()?;
        objects::save(&self.root, content)
    }

    fn load(&self, hash: &ContentHash) -> Result<Vec<u8>, PortError> {
        objects::load(&self.root, hash)
    }

    fn take_all(&self, incident: &IncidentId, paths: &[&Path]) -> Result<(), PortError> {
        paths.chunks(AT_ONCE).try_for_each(|some| self.take_some(incident, some))
    }

    fn put_back(&self, incident: &IncidentId, change: &StoredChange) -> Result<(), PortError> {
        if change.before.is_none() && folders::are_gone(&change.path) {
            // It went with the folders that were made for it.
            return Ok(());
        }
        let work = self.begin_to_put_back(incident, change)?;
        match work.standing {
            Standing::Before => Ok(()),
            Standing::Other => Err(work.place.changed()),
            Standing::After | Standing::Torn => {
                let content = change.before.as_ref().map(|hash| self.load(hash)).transpose()?;
                let wanted = content.as_deref().zip(work.taken.meta.clone());
                self.change(&work, change.after.as_ref(), wanted)
            }
        }
    }

    fn apply(&self, incident: &IncidentId, change: &StoredChange) -> Result<(), PortError> {
        let work = self.begin(incident, change)?;
        match work.standing {
            Standing::After => Ok(()),
            Standing::Other => Err(work.place.changed()),
            Standing::Before | Standing::Torn => {
                let content = change.after.as_ref().map(|hash| self.load(hash)).transpose()?;
                let meta = work.meta_afterwards(change)?;
                self.change(&work, change.before.as_ref(), content.as_deref().map(|content| (content, meta)))
            }
        }
    }

    fn make_folders(&self, change: &StoredChange) -> Result<(), PortError> {
        folders::make(&change.path, change.new_folders)
    }

    fn clear_folders(&self, change: &StoredChange) {
        if change.before.is_none() && change.after.is_some() {
            folders::clear(&change.path, change.new_folders);
        }
    }

    fn state_of(&self, change: &StoredChange) -> Result<Standing, PortError> {
        let place = match Place::find(&change.path) {
            Err(error) if error.trouble == Trouble::Missing => return Ok(standing(change, None, None)),
            other => other?,
        };
        match place.look() {
            // A folder or a device stands there now.
            Err(error) if error.trouble == Trouble::Changed => Ok(Standing::Other),
            Err(error) => Err(error),
            Ok(found) => self.standing(&place, change, found.as_ref(), None),
        }
    }
}

/// So many files are taken with one write.
const AT_ONCE: usize = 200;

/// A file that is being taken: its place, its content's name, and the rest.
type Looked = (Place, String, Option<Meta>);

/// One file, taken and looked at: all that a change needs to know.
struct Work<'a> {
    incident: &'a IncidentId,
    place: Place,
    taken: Taken,
    found: Option<Found>,
    standing: Standing,
}

impl Work<'_> {
    /// What the changed file is to have: all that it has now, with other permission bits if the change says so.
    fn meta_afterwards(&self, change: &StoredChange) -> Result<Meta, PortError> {
        let doing = || format!("read the attributes of {}", self.place.real.display());
        let now = match &self.found {
            None => Meta { mode: NEW_FILE, owner: None, times: None, attributes: None },
            Some(found) => {
                Meta::read(&found.file, &found.stat).map_err(|error| trouble::io(doing(), error))?
            }
        };
        Ok(Meta { mode: change.mode_after.unwrap_or(now.mode), times: None, ..now })
    }
}

impl Store {
    /// Takes some files with one write: a folder is open for each of them meanwhile.
    fn take_some(&self, incident: &IncidentId, paths: &[&Path]) -> Result<(), PortError> {
        let looked: Vec<Looked> = paths.iter().map(|path| self.look(path)).collect::<Result<_, _>>()?;
        let doing = match paths {
            [path] => format!("take a snapshot of {}", path.display()),
            _ => format!("take a snapshot of {} files", paths.len()),
        };
        self.write(Durability::Power, &doing, |tx| {
            for (path, (place, content, meta)) in paths.iter().zip(&looked) {
                if content != ABSENT {
                    note_content(tx, incident, &ContentHash::new(content.as_str()))?;
                }
                Key { incident, path, content }.insert(tx, place, meta.as_ref())?;
            }
            Ok(())
        })
    }

    /// A file with its content saved, and with everything else that there is to know of it.
    fn look(&self, path: &Path) -> Result<Looked, PortError> {
        let place = Place::find(path)?;
        let failed = |error| trouble::io(format!("take a snapshot of {}", path.display()), error);
        match place.look()? {
            None => Ok((place, ABSENT.to_owned(), None)),
            Some(found) => {
                let hash = self.save(&found.content)?;
                let meta = Meta::read(&found.file, &found.stat).map_err(failed)?;
                Ok((place, hash.as_str().to_owned(), Some(meta)))
            }
        }
    }

    /// Removes what a process that was killed may have left beside a file: the old or the new content under a name of ours.
    /// Only where the file itself is as it was before or after; else what lies there may be somebody's.
    ///
    /// # Errors
    /// When the file's folder cannot be read.
    pub fn tidy(&self, incident: &IncidentId, change: &StoredChange) -> Result<(), PortError> {
        let known = matches!(self.state_of(change)?, Standing::Before | Standing::After);
        // A folder that is gone took with it what lay there.
        if let (true, Ok(place)) = (known, Place::find(&change.path)) {
            place.clean(incident);
        }
        Ok(())
    }

    /// Whether [`put_back`](Snapshots::put_back) could begin: that the content of a file is what a change left does not mean
    /// that the file is the same.
    ///
    /// # Errors
    /// [`Trouble::Changed`] when it belongs to somebody else than when it was taken, or its path leads to another file.
    pub fn may_put_back(&self, incident: &IncidentId, change: &StoredChange) -> Result<(), PortError> {
        self.begin_to_put_back(incident, change).map(|_| ())
    }

    fn begin_to_put_back<'a>(
        &self,
        incident: &'a IncidentId,
        change: &StoredChange,
    ) -> Result<Work<'a>, PortError> {
        let work = self.begin(incident, change)?;
        if let (Some(found), Some(meta)) = (&work.found, &work.taken.meta)
            && meta.owner != Some((found.stat.st_uid, found.stat.st_gid))
        {
            return Err(work.place.changed());
        }
        Ok(work)
    }

    fn begin<'a>(&self, incident: &'a IncidentId, change: &StoredChange) -> Result<Work<'a>, PortError> {
        let place = Place::find(&change.path)?;
        let content = change.before.as_ref().map_or(ABSENT, ContentHash::as_str);
        let key = Key { incident, path: &change.path, content };
        let doing = format!("find the snapshot of {}", change.path.display());
        let Some(taken) = self.read(&doing, |db| key.select(db))? else {
            // Nobody saved what is expected, since something else stands there now.
            let theirs = matches!(self.state_of(change)?, Standing::Other | Standing::After);
            return Err(if theirs { place.changed() } else { PortError::plain(doing, Trouble::Missing) });
        };
        if taken.real.path() != place.real {
            // The path leads to another file than it did.
            return Err(place.changed());
        }
        place.clean(incident);
        let found = place.look()?;
        let mode = taken.meta.as_ref().map(|meta| meta.mode);
        let standing = self.standing(&place, change, found.as_ref(), mode)?;
        let taken = Taken { real: Name::of(&place.real), ..taken };
        Ok(Work { incident, place, taken, found, standing })
    }

    fn standing(
        &self,
        place: &Place,
        change: &StoredChange,
        found: Option<&Found>,
        mode: Option<u32>,
    ) -> Result<Standing, PortError> {
        let seen = standing(change, found, mode);
        match (seen, found) {
            (Standing::Other, Some(found)) if self.is_torn(place, change, found)? => Ok(Standing::Torn),
            _ => Ok(seen),
        }
    }

    /// Whether a file is a rewriting of ours between the two contents of a change that was not ended.
    fn is_torn(&self, place: &Place, change: &StoredChange, found: &Found) -> Result<bool, PortError> {
        let (Some(before), Some(after)) = (&change.before, &change.after) else {
            return Ok(false);
        };
        let noted: bool = self.read("read what was begun in place", |db| {
            db.query_row(
                "SELECT EXISTS (SELECT 1 FROM in_place WHERE real = ?1 AND
                 (old, new) IN (VALUES (?2, ?3), (?3, ?2)))",
                params![Name::of(&place.real), before.as_str(), after.as_str()],
                |row| row.get(0),
            )
        })?;
        Ok(noted && is_mix(&found.content, &self.load(before)?, &self.load(after)?))
    }

    /// Makes a file what is wanted; `None` removes it.
    fn change(
        &self,
        work: &Work<'_>,
        expected: Option<&ContentHash>,
        wanted: Option<(&[u8], Meta)>,
    ) -> Result<(), PortError> {
        let wanted = wanted.map(|(content, meta)| Wanted { content, meta });
        match (&work.found, expected, wanted) {
            (None, _, None) => Ok(()),
            (None, _, Some(wanted)) => work.place.create(work.incident, &wanted),
            (Some(_), Some(expected), None) => work.place.remove(work.incident, expected),
            (Some(_), None, _) => Err(work.place.changed()),
            (Some(found), Some(expected), Some(wanted)) => {
                if work.standing == Standing::Torn {
                    return self.rewrite(work, found, &wanted);
                }
                if found.content == wanted.content {
                    return work.place.touch_up(found, &wanted.meta);
                }
                let one_name = found.stat.st_nlink == 1;
                if one_name && work.place.exchange(work.incident, expected, &wanted)? == Replaced::Done {
                    return Ok(());
                }
                self.note_rewriting(work, expected, &hash_of(wanted.content))?;
                self.rewrite(work, found, &wanted)
            }
        }
    }

    fn note_rewriting(&self, work: &Work<'_>, old: &ContentHash, new: &ContentHash) -> Result<(), PortError> {
        self.write(Durability::Power, "note what is begun in place", |tx| {
            tx.execute(
                "INSERT OR REPLACE INTO in_place (real, old, new) VALUES (?1, ?2, ?3)",
                params![work.taken.real, old.as_str(), new.as_str()],
            )
            .map(|_| ())
        })
    }

    fn rewrite(&self, work: &Work<'_>, found: &Found, wanted: &Wanted<'_>) -> Result<(), PortError> {
        work.place.rewrite(found, wanted)?;
        // A note that stays behind is harmless: it counts only for contents between its two.
        self.write(Durability::Process, "note what was ended in place", |tx| {
            tx.execute("DELETE FROM in_place WHERE real = ?1", [&work.taken.real]).map(|_| ())
        })
    }
}

/// Where a file stands by content and permission bits. `mode` is what it had when it was taken.
fn standing(change: &StoredChange, found: Option<&Found>, mode: Option<u32>) -> Standing {
    let hash = found.map(|found| hash_of(&found.content));
    let has = |content: &Option<ContentHash>, mode: Option<u32>| {
        let same_mode =
            mode.zip(found).is_none_or(|(mode, found)| mode & COMPARED == mode_of(&found.stat) & COMPARED);
        *content == hash && same_mode
    };
    let mode_before = mode.or(change.mode_before);
    if has(&change.after, change.mode_after.or(mode_before)) {
        Standing::After
    } else if has(&change.before, mode_before) {
        Standing::Before
    } else {
        Standing::Other
    }
}

/// Whether every byte is that of one of two contents: what rewriting one into the other passes through.
fn is_mix(content: &[u8], one: &[u8], other: &[u8]) -> bool {
    let lengths = one.len().min(other.len())..=one.len().max(other.len());
    lengths.contains(&content.len())
        && content
            .iter()
            .enumerate()
            .all(|(at, byte)| one.get(at) == Some(byte) || other.get(at) == Some(byte))
}

/// The key of a snapshot. The content is part of it, so that a second taking after a crash, when the change is made
/// already, does not replace the first.
struct Key<'a> {
    incident: &'a IncidentId,
    path: &'a Path,
    content: &'a str,
}

/// What was saved of a file.
struct Taken {
    real: Name,
    meta: Option<Meta>,
}

impl Key<'_> {
    fn insert(&self, tx: &Connection, place: &Place, meta: Option<&Meta>) -> rusqlite::Result<()> {
        let link = self.path.read_link().ok().map(|target| Name::of(&target));
        let owner = meta.and_then(|meta| meta.owner);
        let times = meta.and_then(|meta| meta.times);
        let fresh = tx.execute(
            "INSERT OR IGNORE INTO snapshot (incident, path, content, real, link, mode, uid, gid,
               atime_s, atime_ns, mtime_s, mtime_ns)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                self.incident.as_str(),
                Name::of(self.path),
                self.content,
                Name::of(&place.real),
                link,
                meta.map(|meta| meta.mode),
                owner.map(|owner| owner.0),
                owner.map(|owner| owner.1),
                times.map(|times| times.read.0),
                times.map(|times| times.read.1),
                times.map(|times| times.changed.0),
                times.map(|times| times.changed.1),
            ],
        )?;
        let attributes = meta.and_then(|meta| meta.attributes.as_ref());
        for (name, value) in attributes.into_iter().flatten().take_while(|_| fresh == 1) {
            tx.execute(
                "INSERT INTO snapshot_attribute (incident, path, content, name, value)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![self.incident.as_str(), Name::of(self.path), self.content, Name(name.clone()), value],
            )?;
        }
        Ok(())
    }

    fn select(&self, db: &Connection) -> rusqlite::Result<Option<Taken>> {
        let key = params![self.incident.as_str(), Name::of(self.path), self.content];
        let taken = db
            .query_row(
                "SELECT real, mode, uid, gid, atime_s, atime_ns, mtime_s, mtime_ns FROM snapshot
                 WHERE incident = ?1 AND path = ?2 AND content = ?3",
                key,
                taken_of,
            )
            .optional()?;
        let Some(Taken { real, meta: Some(meta) }) = taken else {
            return Ok(taken);
        };
        let mut query = db.prepare(
            "SELECT name, value FROM snapshot_attribute WHERE incident = ?1 AND path = ?2 AND content = ?3",
        )?;
        let attributes = query
            .query_map(key, |row| Ok((row.get::<_, Name>(0)?.0, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Some(Taken { real, meta: Some(Meta { attributes: Some(attributes), ..meta }) }))
    }
}

fn taken_of(row: &Row<'_>) -> rusqlite::Result<Taken> {
    let real = row.get(0)?;
    let Some(mode) = row.get(1)? else {
        return Ok(Taken { real, meta: None });
    };
    let times = Times { read: (row.get(4)?, row.get(5)?), changed: (row.get(6)?, row.get(7)?) };
    let owner = Some((row.get(2)?, row.get(3)?));
    Ok(Taken { real, meta: Some(Meta { mode, owner, times: Some(times), attributes: None }) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_recognised_at_every_point_of_a_rewriting() {
        let (old, new) = (b"one two three".as_slice(), b"one 2 three and four".as_slice());
        for at in 0..=new.len() {
            let mut half = new[..at].to_vec();
            half.extend(old.get(at..).unwrap_or(&[]));
            assert!(is_mix(&half, old, new), "{at}");
        }
        assert!(!is_mix(b"one two THREE", old, new));
        assert!(!is_mix(b"one", old, new));
    }
}
