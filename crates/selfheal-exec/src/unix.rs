//! The only unsafe code of selfheal: thin wrappers around system calls that have no safe form in the libraries used.
//! Each function states why it is sound; nothing here decides anything.

use std::ffi::c_int;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

// ---- signals of a single-threaded process -------------------------------------------------------------------------

fn signal_set(signals: &[i32]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initializes the set; sigaddset only reports numbers that are out of range.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        set.assume_init()
    }
}

fn change_mask(how: i32, signals: &[i32]) {
    let set = signal_set(signals);
    // SAFETY: the set is initialized, the old mask is not asked for; the call fails only for a wrong `how`.
    unsafe { libc::pthread_sigmask(how, &set, ptr::null_mut()) };
}

/// The signals that a process blocks.
#[derive(Clone, Copy)]
pub(crate) struct Mask(libc::sigset_t);

/// Blocks signals in this thread; the mask before.
pub(crate) fn block(signals: &[i32]) -> Mask {
    let set = signal_set(signals);
    let mut old = MaybeUninit::zeroed();
    // SAFETY: both sets live through the call; a zeroed set is a valid (empty) one.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, old.as_mut_ptr());
        Mask(old.assume_init())
    }
}

/// Lets signals through in this thread.
pub(crate) fn unblock(signals: &[i32]) {
    change_mask(libc::SIG_UNBLOCK, signals);
}

/// A non-blocking descriptor from which blocked signals can be read.
pub(crate) fn signal_fd(signals: &[i32]) -> io::Result<OwnedFd> {
    let set = signal_set(signals);
    // SAFETY: the set is initialized; a non-negative result is a fresh descriptor that nobody else owns.
    unsafe {
        let fd = libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// The next signal that waits at a [`signal_fd`].
pub(crate) fn next_signal(fd: &OwnedFd) -> Option<i32> {
    let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
    // SAFETY: the buffer has the size that is given; all bit patterns are valid for the plain structure.
    let info = unsafe {
        let size = size_of::<libc::signalfd_siginfo>();
        let got = libc::read(fd.as_raw_fd(), info.as_mut_ptr().cast(), size);
        (got == size as isize).then(|| info.assume_init())
    }?;
    i32::try_from(info.ssi_signo).ok()
}

/// Whether a signal is ignored by this process.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let mut old = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: only the current action is asked for, into a structure of the right type.
    unsafe {
        libc::sigaction(signal, ptr::null(), old.as_mut_ptr()) == 0
            && old.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Stops this process as Ctrl-Z would (`whole_group`: and all processes of its group), and returns when it was told to
/// continue, or at once where nobody could continue it (an orphaned group).
pub(crate) fn suspend(whole_group: bool) {
    change_mask(libc::SIG_UNBLOCK, &[libc::SIGTSTP]);
    // SAFETY: plain system calls without pointers.
    unsafe {
        let target = if whole_group { 0 } else { libc::getpid() };
        libc::kill(target, libc::SIGTSTP);
    }
    block(&[libc::SIGTSTP]);
}

/// Stops this process and all of its group as Ctrl-Z would, and tells the supervisor when it was told to continue, or at once
/// where nobody could continue it.
pub(crate) fn stop_group_and_tell(supervisor: u32) {
    let Ok(supervisor) = i32::try_from(supervisor) else { return };
    // SAFETY: plain system calls without pointers. The supervisor is a child that is not yet waited for.
    unsafe {
        libc::kill(0, libc::SIGTSTP);
        libc::kill(supervisor, libc::SIGCONT);
    }
}

extern "C" fn nothing(_signal: libc::c_int) {}

/// Makes a file that may not grow (`ulimit -f`) an error for this process, not its end. Programs that it starts have the
/// signal as it was: a handler, unlike a mask, is not inherited.
pub(crate) fn survive_file_limit() {
    if is_ignored(libc::SIGXFSZ) {
        return;
    }
    // SAFETY: zero is a valid sigaction; the handler does nothing; the structure lives through the call.
    unsafe {
        let mut new = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        new.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        new.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &new, ptr::null_mut());
    }
}

/// Sends a signal to this process and its group, which ends it unless somebody handles the signal.
pub(crate) fn end_group_by(signal: i32) {
    // SAFETY: plain system calls without pointers; the default action is one that can be set for every signal of keys.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(0, signal);
    }
}

// ---- children -----------------------------------------------------------------------------------------------------

/// A change of state of a child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaped {
    /// The child.
    pub pid: i32,
    /// What happened to it.
    pub change: ChildChange,
    /// The largest resident set of it and of the children it waited for, in KiB.
    pub peak_kib: u64,
}

/// What happened to a child.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChildChange {
    /// It returned an exit code.
    Exited(i32),
    /// A signal ended it.
    Signaled(i32),
    /// A signal stopped it.
    Stopped(i32),
}

/// The next change of a child of this process, if one waits.
pub(crate) fn reap() -> Option<Reaped> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to structures of the right type that live through the call; rusage is plain numbers.
    let (pid, usage) = unsafe {
        let pid = libc::wait4(-1, &mut status, libc::WNOHANG | libc::WUNTRACED, usage.as_mut_ptr());
        (pid, usage.assume_init())
    };
    let change = if pid <= 0 {
        return None;
    } else if libc::WIFSTOPPED(status) {
        ChildChange::Stopped(libc::WSTOPSIG(status))
    } else if libc::WIFSIGNALED(status) {
        ChildChange::Signaled(libc::WTERMSIG(status))
    } else {
        ChildChange::Exited(libc::WEXITSTATUS(status))
    };
    Some(Reaped { pid, change, peak_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0) })
}

/// Whether this process was started with SIGPIPE ignored, as systemd does it.
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Rust's runtime ignores SIGPIPE before `main`, and takes it as it usually is for what it starts; so the question has to be
/// asked before.
extern "C" fn look_at_sigpipe() {
    PIPE_IGNORED.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
}

// SAFETY: functions listed there are called once by the C library at the start, in a process of one thread; this one only
// makes a system call and stores a flag.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_AT_SIGPIPE: extern "C" fn() = look_at_sigpipe;

/// Gives a command SIGPIPE as this process was given it.
pub(crate) fn with_sigpipe_as_it_was(command: &mut Command) {
    if !PIPE_IGNORED.load(Ordering::Relaxed) {
        return;
    }
    let ignore = || {
        // SAFETY: signal is async-signal-safe and takes no pointer to data.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no locks, as needed between fork and exec.
    unsafe { command.pre_exec(ignore) };
}

/// Gives the command this mask of blocked signals instead of our own, lets it die with this process, and makes it the
/// foreground group of a terminal before it starts. For the latter it must get a group of its own as well.
///
/// This process must have one thread only: it is the thread whose death the system watches.
pub(crate) fn start_with(command: &mut Command, mask: Mask, terminal: Option<RawFd>) {
    let parent = std::process::id();
    let prepare = move || {
        // SAFETY: only async-signal-safe calls; the process is a fresh single-threaded child, in which SIGTTOU is still
        // blocked. A failure to get the foreground is no reason not to run.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // It may have died before the line above.
            if u32::try_from(libc::getppid()) != Ok(parent) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if let Some(terminal) = terminal {
                libc::tcsetpgrp(terminal, libc::getpid());
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &mask.0, ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no locks, as needed between fork and exec.
    unsafe { command.pre_exec(prepare) };
    with_sigpipe_as_it_was(command);
}

// ---- descriptors --------------------------------------------------------------------------------------------------

/// Lets a command inherit descriptors under their present numbers. They must stay open until it was started.
pub(crate) fn inherit(command: &mut Command, fds: Vec<RawFd>) {
    let open_up = move || {
        for fd in &fds {
            // SAFETY: fcntl is async-signal-safe and takes no pointer here.
            if unsafe { libc::fcntl(*fd, libc::F_SETFD, 0) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no locks, as needed between fork and exec.
    unsafe { command.pre_exec(open_up) };
    with_sigpipe_as_it_was(command);
}

/// Takes over a descriptor that was inherited by number, and closes it for children. Standard streams are refused.
///
/// Call it once for each number, before anything else in the process can have opened it.
pub(crate) fn adopt(fd: RawFd) -> io::Result<OwnedFd> {
    if fd <= 2 {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: the call fails for a number that is not open. An open one above the standard streams was made by the
    // process that started this one for exactly this use.
    unsafe {
        if libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Borrows one of the three standard streams, which the Rust runtime makes sure are open from the start.
pub(crate) fn standard(fd: RawFd) -> BorrowedFd<'static> {
    // SAFETY: 0, 1 and 2 are open for the whole life of the process: the runtime opens what is closed at the start, and
    // nothing here closes them.
    unsafe { BorrowedFd::borrow_raw(fd.clamp(0, 2)) }
}

// ---- passing signals on from a process with threads -----------------------------------------------------------------

/// How many supervisors can be told at once.
const SLOTS: usize = 32;
static SUPERVISORS: [AtomicI32; SLOTS] = [const { AtomicI32::new(0) }; SLOTS];
static SEEN: AtomicU64 = AtomicU64::new(0);
static INSTALLED: Mutex<Installed> = Mutex::new(Installed { of: Vec::new() });

struct Installed {
    of: Vec<Handler>,
}

/// What a signal did before it was watched for.
struct Handler {
    signal: i32,
    users: usize,
    old: libc::sigaction,
}

/// While it lives, signals to this process are noted, and sent on to what is [`Attached`]. Signals that were ignored stay
/// ignored. Watches may overlap.
#[derive(Debug)]
pub(crate) struct Watch {
    signals: Vec<i32>,
}

/// A child that signals are sent on to while it lives. It must be dropped before the child is waited for.
#[derive(Debug)]
pub(crate) struct Attached {
    slot: Option<usize>,
}

extern "C" fn send_on(signal: libc::c_int) {
    SEEN.fetch_or(1 << (signal & 63), Ordering::SeqCst);
    // SAFETY: errno is thread-local and is put back; kill is async-signal-safe.
    unsafe {
        let errno = *libc::__errno_location();
        for slot in &SUPERVISORS {
            let pid = slot.load(Ordering::SeqCst);
            if pid > 0 {
                libc::kill(pid, signal);
            }
        }
        *libc::__errno_location() = errno;
    }
}

/// The first of these signals that came while a [`Watch`] for it lives.
pub(crate) fn seen(signals: &[i32]) -> Option<i32> {
    let seen = SEEN.load(Ordering::SeqCst);
    signals.iter().copied().find(|signal| seen & (1 << signal) != 0)
}

impl Watch {
    /// Begins to watch for these signals.
    pub(crate) fn install<'a>(signals: impl Iterator<Item = &'a i32>) -> Self {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        let signals = signals.copied().filter(|signal| installed.add(*signal)).collect();
        Self { signals }
    }

    /// Ends the watch. A signal that came too late to be among those `served` by the supervisor is raised again when
    /// nobody else watches for it, so that it is not lost.
    pub(crate) fn finish(mut self, served: &[i32]) {
        for signal in self.release().into_iter().filter(|signal| !served.contains(signal)) {
            // SAFETY: a plain system call.
            unsafe { libc::kill(libc::getpid(), signal) };
        }
    }

    /// Puts the old actions back where this was the last user; the signals that came meanwhile, then.
    fn release(&mut self) -> Vec<i32> {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        self.signals.drain(..).filter(|signal| installed.remove(*signal)).collect()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.release();
    }
}

impl Attached {
    /// Sends signals on to this child from now on, and those that came since they are watched for.
    pub(crate) fn to(pid: u32) -> Self {
        let Ok(pid) = i32::try_from(pid) else { return Self { slot: None } };
        let free =
            |slot: &AtomicI32| slot.compare_exchange(0, pid, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        let slot = SUPERVISORS.iter().position(free);
        let seen = SEEN.load(Ordering::SeqCst);
        for signal in (1..64).filter(|signal| seen & (1 << signal) != 0) {
            // SAFETY: a plain system call; the child is not yet waited for, so the number is its own.
            unsafe { libc::kill(pid, signal) };
        }
        Self { slot }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take().and_then(|at| SUPERVISORS.get(at)) {
            slot.store(0, Ordering::SeqCst);
        }
    }
}

impl Installed {
    /// Whether this signal is watched for now: it is not where it is ignored.
    fn add(&mut self, signal: i32) -> bool {
        if let Some(handler) = self.of.iter_mut().find(|handler| handler.signal == signal) {
            handler.users += 1;
            return true;
        }
        SEEN.fetch_and(!(1 << (signal & 63)), Ordering::SeqCst);
        let added = replace_action(signal).map(|old| Handler { signal, users: 1, old });
        let is_added = added.is_some();
        self.of.extend(added);
        is_added
    }

    /// Whether the last watch for this signal ended and it had come meanwhile.
    fn remove(&mut self, signal: i32) -> bool {
        let Some(at) = self.of.iter().position(|handler| handler.signal == signal) else { return false };
        let Some(handler) = self.of.get_mut(at) else { return false };
        handler.users = handler.users.saturating_sub(1);
        if handler.users > 0 {
            return false;
        }
        let handler = self.of.swap_remove(at);
        // SAFETY: the action was given by the system for this signal.
        unsafe { libc::sigaction(signal, &handler.old, ptr::null_mut()) };
        let bit = 1 << (signal & 63);
        SEEN.fetch_and(!bit, Ordering::SeqCst) & bit != 0
    }
}

/// The action that was there before.
fn replace_action(signal: i32) -> Option<libc::sigaction> {
    if is_ignored(signal) {
        return None;
    }
    // SAFETY: zero is a valid sigaction; the handler does only async-signal-safe things; both structures live through
    // the call.
    unsafe {
        let mut new = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        new.sa_sigaction = send_on as extern "C" fn(libc::c_int) as usize;
        new.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut new.sa_mask);
        let mut old = MaybeUninit::<libc::sigaction>::zeroed();
        (libc::sigaction(signal, &new, old.as_mut_ptr()) == 0).then(|| old.assume_init())
    }
}

// ---- boxes: only called in the re-executed, single-threaded `__box` --------------------------------------------------

/// Which side of a fork this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forked {
    /// The new process.
    Child,
    /// The old process, with the number of the new one.
    Parent(Pid),
}

/// Forks into new namespaces (`CLONE_NEW…` bits; 0 is a plain fork).
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn fork_into(namespaces: c_int) -> io::Result<Forked> {
    let flags = namespaces | libc::SIGCHLD;
    // SAFETY: without CLONE_VM and with a null stack this behaves as fork(2). The caller is single-threaded, so the
    // child's copy of every lock is free.
    let result = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) };
    match i32::try_from(result) {
        Ok(0) => Ok(Forked::Child),
        Ok(pid) if pid > 0 => Ok(Pid::from_raw(pid).map_or(Forked::Child, Forked::Parent)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves this process into new namespaces.
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the caller is single-threaded and the file descriptor table is not unshared.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
}

/// Ends this process at once, without running anything at exit.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: takes a plain number and never returns.
    unsafe { libc::_exit(code) }
}

/// Marks every descriptor from `first` on, but for `kept`, to be closed when a program is started.
///
/// # Errors
/// When the kernel refuses (it is older than 5.11).
pub(crate) fn close_on_exec_from(first: RawFd, kept: Option<RawFd>) -> io::Result<()> {
    let mark = |from: RawFd, to: u32| {
        // SAFETY: with CLOSE_RANGE_CLOEXEC no descriptor is closed, only its flag is set.
        let result =
            unsafe { libc::syscall(libc::SYS_close_range, from, to, libc::CLOSE_RANGE_CLOEXEC as c_int) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    match kept {
        Some(kept) if kept >= first => {
            if kept > first {
                mark(first, (kept - 1).unsigned_abs())?;
            }
            mark(kept + 1, u32::MAX)
        }
        _ => mark(first, u32::MAX),
    }
}

/// Sets mount attributes (`MOUNT_ATTR_…`) on the mount at `folder` and, if asked for, all below it.
///
/// # Errors
/// When the kernel refuses (it is older than 5.12), or it is not a mount point.
pub(crate) fn set_mount_attributes(mount: impl AsFd, attributes: u64, recursive: bool) -> io::Result<()> {
    let attr = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty C string, and `attr` lives through the call and has the stated size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Brings the loopback interface of this network namespace up.
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: an `ifreq` of zeroes is a valid value of that plain C struct.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo\0") {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: SIOCSIFFLAGS reads an `ifreq`, which lives through the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Waits for a child; gives its raw wait status and the largest resident set, in KiB, of it and of what it waited for.
///
/// # Errors
/// When there is no such child.
pub(crate) fn wait_with_usage(pid: Pid) -> io::Result<(c_int, u64)> {
    let mut status: c_int = 0;
    // SAFETY: an `rusage` of zeroes is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to values that live through the call.
        let result = unsafe { libc::wait4(pid.as_raw_nonzero().get(), &raw mut status, 0, &raw mut usage) };
        if result > 0 {
            return Ok((status, u64::try_from(usage.ru_maxrss).unwrap_or(0)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
