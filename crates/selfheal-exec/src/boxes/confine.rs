//! What a process in a box may not do: capabilities, limits, system calls, signals to the outside.
//!
//! Called by the process that becomes the job, in this order; the seccomp filter comes last.

use landlock::{ABI, Access, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

use super::overlay::{Step, named};
use super::seccomp;

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
pub(crate) fn confine(root: bool) -> Step<()> {
    limit()?;
    named(set_no_new_privs(true), "set no-new-privileges")?;
    drop_capabilities(if root { KEPT } else { CapabilitySet::empty() })?;
    scope();
    seccomp::install()
}

/// (what, soft limit): what one box may use. A lower limit of the caller stays.
const LIMITS: [(Resource, u64); 5] = [
    (Resource::Core, 0),
    (Resource::Fsize, 8 * 1024 * 1024 * 1024),
    (Resource::Nofile, 65_536),
    (Resource::Nproc, super::MOST_PROCESSES),
    (Resource::Memlock, 64 * 1024 * 1024),
];

fn limit() -> Step<()> {
    for (what, most) in LIMITS {
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
        if !kept.contains(one) {
            // Numbers that this kernel does not know are refused; those that it knows are not.
            let _ = remove_capability_from_bounding_set(one);
        }
    }
    // The kernel before 4.3 has no ambient set.
    let _ = clear_ambient_capability_set();
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    named(set_capabilities(None, sets), "drop capabilities")
}

/// A second wall beside the namespaces: no abstract sockets of, and no signals to, anything outside.
fn scope() {
    // The namespaces hold without it, so an older kernel is no reason not to run.
    let _ = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::from_all(ABI::V6))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
}
