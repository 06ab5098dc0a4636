//! What a process in a box may not do: capabilities, limits, system calls, signals to the outside.
//!
//! Called by the process that becomes the job, in this order; the seccomp filter comes last.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    Scope, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

use super::overlay::{Step, named};
use super::seccomp;
use super::wire::Limits;

/// What root in a box may still do: as on the machine with files and users, not with the machine itself.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Numbers of capabilities that are tried when the set is narrowed; the kernel has 41 today.
const CAPABILITIES: u32 = 63;

/// Gives up everything that a job in a box must not have.
pub(crate) fn confine(root: bool, limits: &Limits, walls: &Walls) -> Step<()> {
    limit(limits)?;
    named(set_no_new_privs(true), "set no-new-privileges")?;
    drop_capabilities(if root { KEPT } else { CapabilitySet::empty() })?;
    wall(walls);
    seccomp::install(walls.services)
}

/// What a box needs besides its tree of files.
#[derive(Debug)]
pub(crate) struct Walls {
    /// Whether sockets in the file system may be used: they lead to nobody behind an overlay, but to a service of the
    /// machine where a folder of it is bound as it is.
    pub services: bool,
    /// The only folders that may be written to, where the tree is one of copies.
    pub writable: Option<Vec<PathBuf>>,
}

/// Places of a box's own, which can always be written to.
const OWN: [&str; 2] = ["/dev", "/proc"];

/// More processes than the box may hold can be started, so that it is the box that ends them, and says so.
const SPARE_PROCESSES: u64 = 8;

/// Sets what one process may use. A lower limit of the caller stays.
fn limit(limits: &Limits) -> Step<()> {
    let table = [
        (Resource::Core, 0),
        (Resource::Fsize, limits.file_size),
        (Resource::Nofile, 65_536),
        (Resource::Nproc, limits.processes.saturating_add(SPARE_PROCESSES)),
        (Resource::Memlock, 64 * 1024 * 1024),
        // Memory that is written to, not what is only reserved, as some runtimes do by the terabyte.
        (Resource::Data, limits.memory),
    ];
    for (what, most) in table {
        let now = getrlimit(what);
        let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
        let new = Rlimit { current: lower(now.current), maximum: lower(now.maximum) };
        named(setrlimit(what, new), "set a limit")?;
    }
    Ok(())
}

fn drop_capabilities(kept: CapabilitySet) -> Step<()> {
    for number in 0..CAPABILITIES {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if !kept.contains(one) && remove_capability_from_bounding_set(one).is_err() {
            // The first number that this kernel does not know.
            break;
        }
    }
    // The kernel before 4.3 has no ambient set.
    let _ = clear_ambient_capability_set();
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    named(set_capabilities(None, sets), "drop capabilities")
}

/// A second wall beside the namespaces: no abstract sockets of, and no signals to, anything outside; no device nodes. A
/// process behind it may neither change mounts nor look into processes before it, whatever the system call filter says.
fn wall(walls: &Walls) {
    let mut refused = AccessFs::MakeChar | AccessFs::MakeBlock;
    // Who does not name it is refused every move from one folder to another.
    let mut allowed: BitFlags<AccessFs> = AccessFs::Refer.into();
    let mut folders = vec![PathBuf::from("/")];
    if let Some(writable) = &walls.writable {
        allowed |= AccessFs::from_write(ABI::V3) & !refused;
        folders = OWN.iter().map(PathBuf::from).chain(writable.iter().cloned()).collect();
    }
    refused |= allowed;
    let build = || -> Result<(), landlock::RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(refused)?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .add_rules(path_beneath_rules(folders, allowed))?
            .restrict_self()?;
        Ok(())
    };
    // The namespaces hold without it, so an older kernel is no reason not to run.
    let _ = build();
}
