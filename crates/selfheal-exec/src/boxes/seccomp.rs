//! The system calls that a job in a box may not make, as tables.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter, sock_filter,
};

use super::overlay::Step;

/// Refused with EPERM whatever their arguments: they change the machine, look into other processes, or only widen what
/// of the kernel can be reached.
const REFUSED: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Answered with ENOSYS, so that callers fall back to what can be checked: the flags of clone3 are behind a pointer,
/// and a ring makes calls that no filter sees.
const UNKNOWN: &[i64] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Flags of clone(2) that make namespaces.
const NEW_NAMESPACES: [libc::c_int; 8] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWTIME,
];

/// ioctl requests that put characters into a terminal.
const TERMINAL_INJECTION: [u64; 2] = [0x5412, 0x541C];

/// Address families that a job may use; of netlink only routing.
const FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Installs the filters. Needs no-new-privileges. Without `services`, sockets to services of the machine are refused.
pub(crate) fn install(services: bool) -> Step<()> {
    let build = || -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
        let mut programs = vec![compile(refused()?, libc::EPERM)?, compile(plain(UNKNOWN), libc::ENOSYS)?];
        if !services {
            let local = u64::from(libc::AF_UNIX.unsigned_abs());
            let rules = [(libc::SYS_socket, vec![rule(&[(0, SeccompCmpOp::Eq, local)])?])];
            programs.push(compile(rules.into_iter().collect(), libc::ENETUNREACH)?);
        }
        Ok(programs)
    };
    let programs = build().map_err(|error| format!("build the system call filter: {error}"))?;
    for program in [&foreign_calls()].into_iter().chain(programs.iter()) {
        apply_filter(program).map_err(|error| format!("install the system call filter: {error}"))?;
    }
    Ok(())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn compile(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, seccompiler::BackendError> {
    let arch = std::env::consts::ARCH.try_into()?;
    let action = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()
}

fn plain(calls: &[i64]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn refused() -> Result<Rules, seccompiler::BackendError> {
    let mut rules = plain(REFUSED);
    let namespaces = NEW_NAMESPACES.iter().map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        rule(&[(0, SeccompCmpOp::MaskedEq(flag), flag)])
    });
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    let injection = TERMINAL_INJECTION.iter().map(|request| rule(&[(1, SeccompCmpOp::Eq, *request)]));
    rules.insert(libc::SYS_ioctl, injection.collect::<Result<_, _>>()?);
    let other_family: Vec<_> =
        FAMILIES.iter().map(|family| (0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()))).collect();
    let netlink = u64::from(libc::AF_NETLINK.unsigned_abs());
    let other_netlink = [(0, SeccompCmpOp::Eq, netlink), (2, SeccompCmpOp::Ne, 0)];
    rules.insert(libc::SYS_socket, vec![rule(&other_family)?, rule(&other_netlink)?]);
    Ok(rules)
}

/// A rule whose conditions (argument, comparison, value) must all hold.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions
        .iter()
        .map(|(argument, compare, value)| {
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, compare.clone(), *value)
        })
        .collect::<Result<Vec<_>, _>>()?;
    SeccompRule::new(conditions)
}

/// Answers the calls of the x32 range with ENOSYS: their numbers are others, so no other rule sees them. Written by
/// hand because the filter compiler knows no ranges. Elsewhere no call has such a number.
fn foreign_calls() -> BpfProgram {
    const X32_BIT: u32 = 0x4000_0000;
    let load_number = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    let if_at_least = sock_filter { code: 0x35, jt: 0, jf: 1, k: X32_BIT };
    let refuse =
        sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs() };
    let allow = sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
    vec![load_number, if_at_least, refuse, allow]
}
