//! Carries steps out so that a crash leaves either the old or the new at every path, and a way on.
//!
//! Theory of operation. *Look*: every path still is what the job started from, or nothing is done. *Prepare*: whatever
//! can fail for want of room is done first, where nobody sees it; new things lie complete on the mount of their path,
//! old contents that will not survive the exchange are copied. One `syncfs` for each file system. Then the journal says
//! `Applying`, on the disk: the commit point. *Apply*: every step is one rename or exchange inside of opened folders;
//! what came out is compared with what was expected, and put back when somebody was faster. Whether a step is done shows
//! by the inode at its path, so applying may be repeated from the start after a crash. When a step fails, those that are
//! done are taken back in reverse. One more `syncfs`, and the draft says how it stands.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, OFlags, RenameFlags, linkat, syncfs};
use selfheal_core::failpoint;
use serde::{Deserialize, Serialize};

use super::at::{At, Tree, mount_of, own_folder};
use super::copy;
use super::draft::{OLD, SLOTS, replace};
use super::error::{CommitError, Why};
use super::facts::Facts;
use super::look::{self, Conflicts, Known, Showed, is_unreachable};
use super::meta::{Meta, place_of};
use super::steps::{Beside, Deed, Kind, Step};

type Done<T> = Result<T, CommitError>;

/// How far a commit or its undoing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// Nothing that people see was changed yet.
    Preparing,
    /// It goes forward, also after a crash.
    Applying,
}

/// What is under way; written down before it begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub draft: String,
    /// Whether it takes back.
    pub backwards: bool,
    pub phase: Phase,
    pub steps: Vec<Step>,
}

/// Works on one journal.
pub(crate) struct Work<'a> {
    /// The journal's file.
    file: &'a Path,
    pub journal: Journal,
    known: &'a Known,
    tree: Tree,
    slots: Rc<OwnedFd>,
    old: Rc<OwnedFd>,
}

impl<'a> Work<'a> {
    /// Opens the folders of the draft.
    pub(crate) fn new(file: &'a Path, folder: &Path, journal: Journal, known: &'a Known) -> Done<Self> {
        let open = |name: &str| own_folder(&folder.join(name));
        let opened = || Ok((Tree::new()?, open(SLOTS)?, open(OLD)?));
        let (tree, slots, old) =
            opened().map_err(CommitError::io(format_args!("open {}", folder.display())))?;
        Ok(Self { file, journal, known, tree, slots, old })
    }

    /// Looks at every step; those that somebody else did already are left out.
    pub(crate) fn look(&mut self) -> Done<()> {
        let mut conflicts = Conflicts::default();
        let made: BTreeSet<PathBuf> = self.made().map(|step| step.path.clone()).collect();
        let mut steps = std::mem::take(&mut self.journal.steps);
        let mut failed = None;
        steps.retain(|step| match self.look_at(step, &made) {
            Ok(Showed::Ready) => true,
            Ok(Showed::Done) => false,
            Ok(Showed::Conflict(why)) => {
                conflicts.add(&step.path, why);
                true
            }
            Err(error) => {
                failed.get_or_insert(CommitError::io(format_args!("look at {}", step.path.display()))(error));
                true
            }
        });
        self.journal.steps = steps;
        failed.map_or_else(|| conflicts.into_result(), Err)
    }

    /// Steps that make a folder.
    fn made(&self) -> impl Iterator<Item = &Step> {
        self.journal.steps.iter().filter(|step| step.last.is_some() && matches!(step.deed, Deed::Move(_)))
    }

    fn look_at(&mut self, step: &Step, made: &BTreeSet<PathBuf>) -> io::Result<Showed> {
        let at = match self.tree.at(&step.path) {
            // A folder on the way is made by an earlier step.
            Err(error) if is_unreachable(&error) => {
                let coming = step.path.parent().is_some_and(|parent| made.contains(parent));
                return Ok(if coming { Showed::Ready } else { Showed::Conflict(Why::Unreachable) });
            }
            other => other?,
        };
        look::step(step, &at, &self.stored(&step.names(self.journal.backwards).0), self.known)
    }

    /// A file of the draft by its name there, `slots/N` or `old/N`.
    fn stored(&self, name: &str) -> At {
        let (folder, number) = name.split_once('/').unwrap_or((SLOTS, name));
        At::new(if folder == OLD { self.old.clone() } else { self.slots.clone() }, number)
    }

    /// Where what comes waits, and where what goes is put.
    fn slot(&mut self, step: &Step) -> io::Result<At> {
        match &step.beside {
            Some(beside) => self.tree.at(&beside.path),
            None => Ok(At::new(self.slots.clone(), step.n.to_string())),
        }
    }

    /// Prepares all steps and makes it safe, up to the commit point.
    pub(crate) fn prepare(&mut self) -> Done<()> {
        failpoint::hit("commit.begin");
        self.place_slots()?;
        self.save(false)?;
        failpoint::hit("commit.journal");
        let mut steps = std::mem::take(&mut self.journal.steps);
        let mut linked = HashMap::new();
        let prepared = steps.iter_mut().try_for_each(|step| {
            let doing = format!("prepare {}", step.path.display());
            let prepared = self.prepare_step(step, &mut linked).map_err(CommitError::io(doing));
            failpoint::hit("commit.prepared");
            prepared
        });
        self.journal.steps = steps;
        prepared.and_then(|()| self.sync()).and_then(|()| {
            self.journal.phase = Phase::Applying;
            self.save(true)
        })
    }

    /// A slot must lie on the mount of its path.
    fn place_slots(&mut self) -> Done<()> {
        let own = mount_of(&*self.slots).map_err(CommitError::io("look at the mount of the state folder"))?;
        let paths: BTreeSet<PathBuf> = self.journal.steps.iter().map(|step| step.path.clone()).collect();
        let short: String =
            self.journal.draft.chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
        let mut places: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
        for step in self.journal.steps.iter_mut().filter(|step| matches!(step.deed, Deed::Move(_))) {
            let parent = step.path.parent().unwrap_or(Path::new("/")).to_path_buf();
            let place = match places.get(&parent) {
                Some(known) => known.clone(),
                None => {
                    let found = self.tree.anchor(&step.path, |folder| paths.contains(folder));
                    let place =
                        found.and_then(|(folder, dir)| Ok((mount_of(&dir)? != own).then_some(folder)));
                    let place = place.map_err(CommitError::io(format_args!("open {}", parent.display())))?;
                    places.entry(parent).or_insert(place).clone()
                }
            };
            let folder = match (place, self.journal.backwards) {
                // The old file is a copy: it waits beside its path, whatever mount that is on by now.
                (_, true) if step.copied => parent_outside(&step.path, &paths),
                (Some(_), true) => {
                    let moved = io::Error::other("the state folder lies on another mount than before");
                    return Err(CommitError::io(format_args!("restore {}", step.path.display()))(moved));
                }
                (place, _) => place,
            };
            let name = format!(".selfheal-{short}-{}", step.n);
            step.beside = folder.map(|folder| Beside { path: folder.join(name) });
            step.copied = step.beside.is_some();
        }
        Ok(())
    }

    fn prepare_step(&mut self, step: &mut Step, linked: &mut HashMap<u64, At>) -> io::Result<()> {
        let (comes, goes) = step.names(self.journal.backwards);
        let (comes, goes) = (self.stored(&comes), self.stored(&goes));
        let leaves = step.deed == Deed::Rewrite
            || (step.beside.is_some() && matches!(step.deed, Deed::Move(Kind::Swap | Kind::Out)));
        if leaves && !self.journal.backwards {
            goes.remove()?;
            copy::whole(&self.tree.at(&step.path)?, &goes)?;
        }
        if !matches!(step.deed, Deed::Move(Kind::In | Kind::Swap)) {
            return Ok(());
        }
        let slot = self.slot(step)?;
        if step.beside.is_some() {
            slot.remove()?;
            copy_linked(&comes, &slot, linked)?;
        }
        step.ready = slot.facts()?.map(|facts| facts.ino);
        if step.ready.is_none() {
            return Err(ErrorKind::NotFound.into());
        }
        Ok(())
    }

    /// Brings everything that was written to the disk: once for each file system.
    fn sync(&mut self) -> Done<()> {
        let mut folders = BTreeSet::new();
        for step in &self.journal.steps {
            let near = step.beside.as_ref().map_or(&step.path, |beside| &beside.path);
            folders.extend(near.parent().map(Path::to_path_buf));
        }
        let mut mounts: BTreeMap<u64, OwnedFd> = BTreeMap::new();
        for folder in folders {
            // A folder that is not there yet, or no more, lies on the mount of one that is.
            if let Ok((_, dir)) = self.tree.anchor(&folder.join("x"), |_| false)
                && let Ok(mount) = mount_of(&dir)
            {
                mounts.entry(mount).or_insert(dir);
            }
        }
        let own = mount_of(&*self.slots).and_then(|mount| Ok((mount, own_folder(&place_of(&*self.slots))?)));
        let synced = || -> io::Result<()> {
            let (mount, own) = own?;
            mounts.remove(&mount);
            flush(&own)?;
            mounts.values().try_for_each(flush)
        };
        synced().map_err(CommitError::io("flush files to the disk"))
    }

    fn save(&self, now: bool) -> Done<()> {
        let text = serde_json::to_vec(&self.journal).map_err(io::Error::from);
        text.and_then(|text| replace(self.file, &text, now))
            .map_err(CommitError::io(format_args!("write {}", self.file.display())))
    }

    /// Applies all steps, or takes all back. May be called again after a crash.
    pub(crate) fn apply(&mut self) -> Done<()> {
        let steps = self.journal.steps.clone();
        self.loosen(&steps);
        for step in &steps {
            if let Err(error) = self.apply_step(step) {
                return Err(self.take_back(&steps, error));
            }
            failpoint::hit("commit.step");
        }
        let ended = self.finish_folders(&steps).and_then(|()| self.sync());
        ended.map_err(|error| self.take_back(&steps, error))
    }

    /// Takes back all that was applied, because of something that failed afterwards.
    pub(crate) fn revert(&mut self, because: CommitError) -> CommitError {
        let steps = self.journal.steps.clone();
        self.take_back(&steps, because)
    }

    /// Folders that go must let their entries go first; only their owner needs to help himself.
    fn loosen(&mut self, steps: &[Step]) {
        for step in steps.iter().rev().filter(|step| self.journal.backwards && step.is(Kind::Out)) {
            let folder =
                step.expect.as_ref().filter(|facts| facts.is_folder() && facts.mode & 0o300 != 0o300);
            if let (Some(facts), Ok(at)) = (folder, self.tree.at(&step.path))
                && let Ok(stand) = at.stand()
            {
                // What stays closed shows when something is to be moved out of it.
                let _ = fs::set_permissions(
                    place_of(&stand),
                    fs::Permissions::from_mode(facts.mode & 0o7777 | 0o700),
                );
            }
        }
    }

    fn apply_step(&mut self, step: &Step) -> Done<()> {
        let doing = format!("change {}", step.path.display());
        let conflict = |why| {
            let mut conflicts = Conflicts::default();
            conflicts.add(&step.path, why);
            conflicts.into_result()
        };
        let at = match self.tree.at(&step.path) {
            Err(error) if is_unreachable(&error) => return conflict(Why::Unreachable),
            other => other.map_err(CommitError::io(&doing))?,
        };
        let showed = match &step.deed {
            Deed::Move(kind) => self.slot(step).and_then(|slot| self.move_step(step, *kind, &at, &slot)),
            Deed::Touch(_, to) => touch(step, &at, to),
            Deed::Rewrite => self.rewrite(step, &at, &step.names(self.journal.backwards).0),
        };
        match showed {
            Ok(Showed::Ready | Showed::Done) => Ok(()),
            Ok(Showed::Conflict(why)) => conflict(why),
            Err(error) => Err(CommitError::io(&doing)(error)),
        }
    }

    fn move_step(&mut self, step: &Step, kind: Kind, at: &At, slot: &At) -> io::Result<Showed> {
        let now = at.facts()?;
        if step.ready.is_some() && now.as_ref().map(|now| now.ino) == step.ready {
            return Ok(Showed::Done);
        }
        let moved = match (kind, &now, &step.expect) {
            (Kind::In, None, _) => slot.rename(at, RenameFlags::NOREPLACE).map(|()| Showed::Done),
            (Kind::In, Some(_), _) => Ok(Showed::Conflict(Why::Appeared)),
            (Kind::Out, None, _) if slot.facts()?.is_some() => Ok(Showed::Done),
            (_, None, _) => Ok(Showed::Conflict(Why::Gone)),
            (_, Some(now), Some(expect)) if self.still(expect, now) => self.exchange(step, kind, at, slot),
            (_, Some(_), _) => Ok(Showed::Conflict(Why::Changed)),
        };
        self.tree.forget();
        match moved {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Showed::Conflict(Why::Appeared)),
            Err(error) if is_unreachable(&error) => Ok(Showed::Conflict(Why::Gone)),
            other => other,
        }
    }

    /// Whether a path is still what it was at the look, as far as earlier steps leave its time stamp alone: moving one
    /// name of a file touches the others, and so does opening up a folder of our own.
    fn still(&self, expect: &Facts, now: &Facts) -> bool {
        let opened = self.journal.backwards && now.is_folder() && expect.ino == now.ino;
        expect.untouched(now) || opened || (expect.links > 1 && expect.unchanged(now))
    }

    /// Moves what is at a path out, and what waits in; puts it back when it is not what it was a moment ago.
    fn exchange(&self, step: &Step, kind: Kind, at: &At, slot: &At) -> io::Result<Showed> {
        let flags = if kind == Kind::Swap { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
        rename_owned(at, slot, flags)?;
        let showed = self.came_out(step, slot)?;
        if showed != Showed::Ready {
            // Somebody was faster: his file goes back.
            slot.rename(at, flags)?;
        }
        Ok(showed)
    }

    fn came_out(&self, step: &Step, slot: &At) -> io::Result<Showed> {
        let (Some(out), Some(expect)) = (slot.facts()?, &step.expect) else {
            return Ok(Showed::Conflict(Why::Gone));
        };
        if self.journal.backwards && out.is_folder() {
            // Everything that the commit put into it went before.
            let empty = fs::read_dir(slot.path())?.next().is_none();
            return Ok(if empty { Showed::Ready } else { Showed::Conflict(Why::Appeared) });
        }
        if !expect.unchanged(&out) {
            return Ok(Showed::Conflict(Why::Changed));
        }
        if out.is_folder() { look::inside(&slot.path(), &step.path, self.known) } else { Ok(Showed::Ready) }
    }

    fn rewrite(&self, step: &Step, at: &At, from: &str) -> io::Result<Showed> {
        let Some(now) = at.facts()? else { return Ok(Showed::Conflict(Why::Gone)) };
        if step.expect.as_ref().is_none_or(|expect| expect.ino != now.ino) {
            return Ok(Showed::Conflict(Why::Changed));
        }
        let from = self.stored(from);
        let target = at.open(OFlags::WRONLY)?;
        if Facts::from(&target.metadata()?).ino != now.ino {
            return Ok(Showed::Conflict(Why::Changed));
        }
        target.set_len(0)?;
        copy::content(&from.open(OFlags::RDONLY)?, &target)?;
        Meta::read(from.stand()?)?.write(&target, true)?;
        Ok(Showed::Done)
    }

    /// Folders get their modes and times when all is in them, the deepest first.
    fn finish_folders(&mut self, steps: &[Step]) -> Done<()> {
        self.tree.forget();
        let mut folders: Vec<&Step> =
            steps.iter().filter(|step| step.last.is_some() && !step.is(Kind::Out)).collect();
        folders.sort_by(|one, other| other.path.cmp(&one.path));
        for step in folders {
            let Some(meta) = &step.last else { continue };
            let made = matches!(step.deed, Deed::Move(_));
            let finish = || meta.write(self.tree.at(&step.path)?.stand()?, made);
            let mut finish = finish;
            finish().map_err(CommitError::io(format_args!("finish {}", step.path.display())))?;
        }
        Ok(())
    }

    /// Takes back what is done of the steps, and gives the error that says so.
    fn take_back(&mut self, steps: &[Step], because: CommitError) -> CommitError {
        self.tree.forget();
        let mut left = Vec::new();
        for step in steps.iter().rev() {
            if !self.take_back_step(step).unwrap_or(false) {
                left.push(step.path.clone());
            }
        }
        // The folder whose entries were moved keeps what it had; what it cannot be given back is not worth a failure.
        let _ = self.sync();
        if left.is_empty() { because } else { CommitError::Half { left, source: Box::new(because) } }
    }

    /// Whether the path is, or never stopped to be, what it was.
    fn take_back_step(&mut self, step: &Step) -> io::Result<bool> {
        let at = match self.tree.at(&step.path) {
            // It was never reached.
            Err(error) if is_unreachable(&error) => return Ok(step.expect.is_none()),
            other => other?,
        };
        let now = at.facts()?;
        let ours = step.ready.is_some() && now.as_ref().map(|now| now.ino) == step.ready;
        match &step.deed {
            Deed::Move(kind) => {
                let slot = self.slot(step)?;
                match kind {
                    Kind::In if ours => at.rename(&slot, RenameFlags::NOREPLACE)?,
                    Kind::Swap if ours => slot.rename(&at, RenameFlags::EXCHANGE)?,
                    Kind::Out if now.is_none() && slot.facts()?.is_some() => {
                        rename_owned(&slot, &at, RenameFlags::NOREPLACE)?;
                    }
                    Kind::In | Kind::Swap | Kind::Out => {}
                }
                self.tree.forget();
                Ok(true)
            }
            Deed::Touch(from, _) => touch(step, &at, from).map(|_| true),
            Deed::Rewrite if now == step.expect => Ok(true),
            Deed::Rewrite => {
                let old = step.names(self.journal.backwards).1;
                Ok(matches!(self.rewrite(step, &at, &old)?, Showed::Done))
            }
        }
    }

    /// Removes what waits beside paths, and copies that are of no more use.
    pub(crate) fn clean(&mut self) {
        failpoint::hit("commit.clean");
        self.tree.forget();
        for step in self.journal.steps.clone() {
            if step.beside.is_some()
                && let Ok(slot) = self.slot(&step)
            {
                // What cannot be removed is a hidden file with our name; it harms nobody.
                let _ = slot.remove();
            }
        }
    }

    /// What every path of the steps is now.
    pub(crate) fn outcome(&mut self) -> Vec<(Step, Option<Facts>)> {
        self.tree.forget();
        let steps = self.journal.steps.clone();
        let now = |step: &Step| self.tree.at(&step.path).and_then(|at| at.facts()).ok().flatten();
        let mut now = now;
        steps
            .into_iter()
            .map(|step| {
                let facts = now(&step);
                (step, facts)
            })
            .collect()
    }
}

/// The nearest folder on the way to a path that is none of these.
fn parent_outside(path: &Path, paths: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|folder| !paths.contains(*folder)).map(Path::to_path_buf)
}

fn touch(step: &Step, at: &At, meta: &Meta) -> io::Result<Showed> {
    let stand = match at.stand() {
        Err(error) if is_unreachable(&error) => return Ok(Showed::Conflict(Why::Gone)),
        other => other?,
    };
    let facts = Facts::from(&File::from(stand.try_clone()?).metadata()?);
    if step.expect.as_ref().is_none_or(|expect| expect.ino != facts.ino) {
        return Ok(Showed::Conflict(Why::Changed));
    }
    // A folder that others still go into gets its last mode at the end.
    let open = Meta { bits: if facts.is_folder() { meta.bits | 0o700 } else { meta.bits }, ..meta.clone() };
    open.write(&stand, !facts.is_folder())?;
    Ok(Showed::Done)
}

/// Renames, also a folder that its owner made unwritable: to move it, its entry `..` is written.
fn rename_owned(from: &At, to: &At, flags: RenameFlags) -> io::Result<()> {
    match from.rename(to, flags) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let stand = from.stand()?;
            let facts = File::from(stand.try_clone()?).metadata()?;
            if !facts.is_dir() {
                return Err(error);
            }
            let set = |bits| fs::set_permissions(place_of(&stand), fs::Permissions::from_mode(bits));
            set(facts.permissions().mode() & 0o7777 | 0o700)?;
            let renamed = from.rename(to, flags);
            set(facts.permissions().mode() & 0o7777)?;
            renamed
        }
        other => other,
    }
}

/// Copies a thing; a second name of a file that was copied already becomes a second name.
fn copy_linked(from: &At, to: &At, linked: &mut HashMap<u64, At>) -> io::Result<()> {
    let facts = from.facts()?.filter(|facts| facts.is_file() && facts.links > 1);
    let known = facts.as_ref().and_then(|facts| linked.get(&facts.ino));
    if let Some(first) = known
        && linkat(first.dir(), first.name(), to.dir(), to.name(), AtFlags::empty()).is_ok()
    {
        return Ok(());
    }
    copy::whole(from, to)?;
    if let Some(facts) = facts {
        linked.insert(facts.ino, to.clone());
    }
    Ok(())
}

/// Flushes the file system of a folder.
fn flush(folder: impl std::os::fd::AsFd) -> io::Result<()> {
    Ok(syncfs(File::open(place_of(folder))?)?)
}
