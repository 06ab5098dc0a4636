"""Attempts to get out of a box; `escapes.rs` runs them.

attempts.py hold DIR       makes what belongs to the machine (files, processes, sockets, queues), writes DIR/host.json, and
                           when standard input ends says which of the files and processes were changed, and cleans up
attempts.py try DIR WHERE  makes every attempt, WHERE being `outside` or `inside`; a line of JSON for each

An attempt returns True when it got out. One that returns None leaves that to the holder's look at its own file or
process. An OSError is a refusal; NotHere says that there is nothing to try. Outside they hit the holder's things only,
or set something of the machine to what it is already, or give arguments that are refused after the permission.
"""

import array, ctypes, errno, fcntl, json, mmap, os, platform, pty, resource, signal, socket, stat, struct, subprocess
import sys, termios, threading, time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ATTEMPTS = []


class NotHere(Exception):
    pass


def attempt(function):
    ATTEMPTS.append(function)
    return function


def checked(result):
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def call(number, *arguments):
    if platform.machine() != "x86_64":
        raise NotHere("system calls are numbered for x86-64")
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return checked(libc.syscall(ctypes.c_long(number), *plain))


def passes(number, *arguments, good=(errno.EINVAL,)):
    """Whether a call with wrong arguments fails for them, and not for want of permission."""
    try:
        call(number, *arguments)
        return True
    except OSError as error:
        if error.errno in good:
            return True
        raise


def write(path, text, flags=os.O_WRONLY):
    fd = os.open(path, flags)
    try:
        return os.write(fd, text if isinstance(text, bytes) else text.encode()) > 0
    finally:
        os.close(fd)


def same_again(path):
    if not os.path.exists(path):
        raise NotHere(path + " is not there")
    with open(path) as file:
        text = file.read()
    return write(path, text or "\n")


def child(function):
    """Runs in a child, whose end the parent sees: True when it returned True."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if function() else 1
        except NotHere:
            code = 77
        except OSError as error:
            code = 100 + min(error.errno or 0, 150)
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    if code == 77:
        raise NotHere("nothing to try")
    if code >= 100:
        raise OSError(code - 100, os.strerror(code - 100))
    return code == 0


def needs(path):
    if not os.path.exists(path):
        raise NotHere(path + " is not there")
    return path


# ---- files -----------------------------------------------------------------------------------------------------------


@attempt
def overwrite_a_file(h):
    write(h.file, "dead\n", os.O_WRONLY | os.O_TRUNC)


@attempt
def append_to_a_file(h):
    write(h.file, "dead\n", os.O_WRONLY | os.O_APPEND)


@attempt
def write_without_cache(h):
    buffer = mmap.mmap(-1, 4096)
    fd = os.open(h.file, os.O_WRONLY | os.O_DIRECT)
    os.writev(fd, [buffer])


@attempt
def write_through_a_mapping(h):
    fd = os.open(h.file, os.O_RDWR)
    memory = mmap.mmap(fd, 5)
    memory[:4] = b"dead"
    memory.flush()


@attempt
def truncate_a_file(h):
    os.truncate(h.file, 0)


@attempt
def punch_a_hole(h):
    fd = os.open(h.file, os.O_RDWR)
    checked(libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(5)))


@attempt
def copy_into_a_file(h):
    source = os.open(h.other, os.O_RDONLY)
    os.copy_file_range(source, os.open(h.file, os.O_WRONLY), 5)


@attempt
def delete_a_file(h):
    os.unlink(h.file)


@attempt
def rename_a_file(h):
    os.rename(h.file, h.file + ".moved")


@attempt
def replace_a_file(h):
    with open(h.file + ".new", "w") as file:
        file.write("dead\n")
    os.replace(h.file + ".new", h.file)


@attempt
def change_a_mode(h):
    os.chmod(h.file, 0o777)


@attempt
def change_a_mode_by_descriptor(h):
    os.fchmod(os.open(h.file, os.O_RDONLY), 0o777)


@attempt
def change_an_owner(h):
    os.chown(h.file, -1 if os.getuid() else 12, os.getgid())
    if os.getuid():
        raise NotHere("only root gives files away")


@attempt
def change_times(h):
    os.utime(h.file, (1, 1))


@attempt
def set_an_attribute(h):
    os.setxattr(h.file, "user.escaped", b"1")


@attempt
def make_a_file_immutable(h):
    fd = os.open(h.file, os.O_RDONLY)
    flags = array.array("i", [0])
    fcntl.ioctl(fd, 0x80086601, flags, True)
    fcntl.ioctl(fd, 0x40086602, array.array("i", [flags[0] | 0x10]))
    fcntl.ioctl(fd, 0x40086602, flags)
    return True


@attempt
def write_through_a_hard_link(h):
    os.link(h.file, h.file + ".hard")
    write(h.file + ".hard", "dead\n")


@attempt
def write_through_a_symbolic_link(h):
    os.symlink(h.file, h.file + ".soft")
    write(h.file + ".soft", "dead\n")


@attempt
def win_a_race_with_a_symbolic_link(h):
    place, stop = h.file + ".race", []

    def flip():
        while not stop:
            for make in (lambda: os.symlink(h.file, place), lambda: os.close(os.open(place, os.O_CREAT, 0o600))):
                try:
                    make()
                    os.unlink(place)
                except OSError:
                    pass

    thread = threading.Thread(target=flip)
    thread.start()
    end = time.monotonic() + 20
    for _ in range(20000):
        try:
            if not stat.S_ISLNK(os.lstat(place).st_mode):
                write(place, "dead\n")
        except OSError:
            pass
        with open(h.file) as file:
            if file.read() != "alive\n" or time.monotonic() > end:
                break
    else:
        write(place if os.path.islink(place) else h.file, "dead\n")
    stop.append(1)
    thread.join()


@attempt
def write_through_proc_root(h):
    write("/proc/self/root" + h.file, "dead\n")


@attempt
def write_through_the_root_of_another_process(h):
    write(f"/proc/{h.target}/root{h.file}", "dead\n")


@attempt
def write_by_file_handle(h):
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    call(303, -100, h.file.encode(), handle, ctypes.byref(mount), 0)
    folder = os.open(os.path.dirname(h.file), os.O_RDONLY)
    os.write(call(304, folder, handle, os.O_WRONLY), b"dead\n")


@attempt
def write_to_a_descriptor_left_open(h):
    for fd in range(3, 300):
        try:
            if os.readlink(f"/proc/self/fd/{fd}") == h.leak:
                return os.write(fd, b"dead\n") > 0
        except OSError:
            pass
    return False


@attempt
def make_a_file_in_the_folder_of_a_program(h):
    open(h.file + ".planted", "w").close()
    os.rename(h.file + ".planted", h.file)


# ---- secrets ---------------------------------------------------------------------------------------------------------


def reads(path):
    with open(path, "rb") as file:
        return b"hush" in file.read()


@attempt
def read_a_key(h):
    return reads(h.home + "/.ssh/id")


@attempt
def read_a_key_through_proc(h):
    return reads("/proc/self/root" + h.home + "/.ssh/id")


@attempt
def read_a_key_from_its_folder(h):
    folder = os.open(h.home, os.O_PATH)
    return os.read(os.open(".ssh/../.ssh/id", os.O_RDONLY, dir_fd=folder), 99) == b"hush"


@attempt
def read_credentials_through_a_link(h):
    os.symlink(h.home + "/.aws", h.file + ".link")
    return reads(h.file + ".link/credentials")


@attempt
def read_a_single_secret_file(h):
    return reads(h.home + "/.netrc")


@attempt
def link_a_secret_elsewhere(h):
    os.link(h.home + "/.netrc", h.file + ".netrc")
    return reads(h.file + ".netrc")


@attempt
def move_a_secret_elsewhere(h):
    os.rename(h.home + "/.kube", h.home + "/moved")
    found = reads(h.home + "/moved/config")
    os.rename(h.home + "/moved", h.home + "/.kube")
    return found


@attempt
def move_the_home_of_a_secret(h):
    moved = h.home + ".moved"
    os.rename(h.home, moved)
    try:
        return reads(moved + "/.ssh/id")
    finally:
        os.rename(moved, h.home)


@attempt
def watch_a_secret(h):
    watch = checked(libc.inotify_init1(0))
    checked(libc.inotify_add_watch(watch, (h.home + "/.ssh/id").encode(), 0xFFF))
    return True


@attempt
def uncover_a_secret(h):
    try:
        checked(libc.umount2((h.home + "/.ssh").encode(), 2))
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    return reads(h.home + "/.ssh/id")


@attempt
def read_the_passwords_of_the_machine(h):
    with open("/etc/shadow") as file:
        return len(file.read()) > 0


@attempt
def read_a_secret_variable(h):
    return os.environ.get("TEST_API_TOKEN") == "hush"


@attempt
def find_the_agent_of_keys(h):
    return "SSH_AUTH_SOCK" in os.environ


# ---- processes -------------------------------------------------------------------------------------------------------


@attempt
def kill_a_process(h):
    os.kill(h.victims[0], signal.SIGKILL)
    return True


@attempt
def kill_a_process_by_descriptor(h):
    signal.pidfd_send_signal(os.pidfd_open(h.victims[1]), signal.SIGKILL)
    return True


@attempt
def see_a_process(h):
    return os.path.exists(f"/proc/{h.victims[2]}/stat")


@attempt
def trace_a_process(h):
    checked(libc.ptrace(16, ctypes.c_long(h.target), 0, 0))
    os.waitpid(h.target, 0x40000000)
    checked(libc.ptrace(17, ctypes.c_long(h.target), 0, 0))
    return True


@attempt
def trace_itself(h):
    return child(lambda: checked(libc.ptrace(0, 0, 0, 0)) == 0)


@attempt
def read_the_memory_of_a_process(h):
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("QQ", ctypes.addressof(buffer), 8)
    with open(f"/proc/{h.target}/maps") as maps:
        start = int(maps.readline().split("-")[0], 16)
    return call(310, h.target, local, 1, struct.pack("QQ", start, 8), 1, 0) == 8


@attempt
def open_the_memory_of_a_process(h):
    return os.open(f"/proc/{h.target}/mem", os.O_RDWR) > 0


@attempt
def read_the_environment_of_a_process(h):
    with open(f"/proc/{h.target}/environ", "rb") as file:
        return len(file.read()) > 0


@attempt
def open_a_descriptor_of_a_process(h):
    return bool(os.readlink(f"/proc/{h.target}/fd/0"))


@attempt
def take_a_descriptor_of_a_process(h):
    return call(438, os.pidfd_open(h.target), 0, 0) >= 0


@attempt
def enter_the_mounts_of_a_process(h):
    return child(lambda: call(308, os.open(f"/proc/{h.target}/ns/mnt", os.O_RDONLY), 0) == 0)


@attempt
def enter_the_network_of_a_process(h):
    return child(lambda: call(308, os.open(f"/proc/{h.target}/ns/net", os.O_RDONLY), 0) == 0)


@attempt
def enter_by_process_descriptor(h):
    return child(lambda: call(308, os.pidfd_open(h.target), 0x20000000 | 0x00020000) == 0)


@attempt
def limit_a_process(h):
    resource.prlimit(h.victims[2], resource.RLIMIT_NOFILE, (10, 10))
    return True


@attempt
def slow_a_process_down(h):
    os.setpriority(os.PRIO_PROCESS, h.victims[2], 19)
    return True


@attempt
def bind_a_process_to_a_processor(h):
    os.sched_setaffinity(h.victims[2], os.sched_getaffinity(h.victims[2]))
    return True


@attempt
def compare_two_processes(h):
    return call(312, os.getpid(), h.target, 1, 0, 0) >= 0


@attempt
def move_the_pages_of_a_process(h):
    return call(256, h.target, 0, 0, 0) >= 0


@attempt
def raise_the_priority(h):
    return child(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5) is None)


@attempt
def run_in_real_time(h):
    return child(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) is None)


@attempt
def escape_the_memory_killer(h):
    return child(lambda: write("/proc/self/oom_score_adj", "-900"))


@attempt
def write_core_files(h):
    return child(lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20)) is None)


@attempt
def gain_rights_by_a_program(h):
    with open("/proc/self/status") as file:
        return "NoNewPrivs:\t0" in file.read()


@attempt
def give_a_program_capabilities(h):
    os.setxattr(h.file + "x" if os.path.exists(h.file + "x") else h.other, "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 21, 0, 0, 0))
    os.removexattr(h.other, "security.capability")
    return True


# ---- namespaces and mounts -------------------------------------------------------------------------------------------


def space(flag):
    return child(lambda: checked(libc.unshare(flag)) == 0)


@attempt
def make_a_user_namespace(h):
    return space(0x10000000)


@attempt
def make_a_mount_namespace(h):
    return space(0x00020000)


@attempt
def make_a_network_namespace(h):
    return space(0x40000000)


@attempt
def make_a_control_group_namespace(h):
    return space(0x02000000)


@attempt
def make_a_namespace_by_clone(h):
    pid = call(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


@attempt
def make_a_namespace_by_clone3(h):
    arguments = struct.pack("11Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
    pid = call(435, arguments, len(arguments))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


@attempt
def mount_a_file_system(h):
    place = h.file + ".mount"
    os.mkdir(place)
    checked(libc.mount(b"none", place.encode(), b"tmpfs", 0, None))
    checked(libc.umount2(place.encode(), 2))
    return True


@attempt
def bind_a_folder(h):
    place = h.file + ".bind"
    os.mkdir(place)
    checked(libc.mount(b"/etc", place.encode(), None, 4096, None))
    checked(libc.umount2(place.encode(), 2))
    return True


@attempt
def open_a_file_system(h):
    return call(430, b"tmpfs", 0) >= 0


@attempt
def clone_a_mount(h):
    return call(428, -100, b"/", 1) >= 0


@attempt
def change_a_mount(h):
    return passes(442, -100, b"/nowhere", 0, b"\0" * 32, 32, good=(errno.ENOENT, errno.EINVAL))


@attempt
def make_a_mount_writable(h):
    if h.where == "outside":
        raise NotHere("only a box has these")
    checked(libc.mount(None, b"/sys", None, 32 | 4096, None))
    return True


@attempt
def change_the_root(h):
    return passes(155, b"/nowhere", b"/nowhere", good=(errno.ENOENT, errno.EINVAL, errno.EBUSY))


@attempt
def leave_by_chroot(h):
    return child(lambda: os.chroot("/") is None)


@attempt
def reach_the_upper_folder(h):
    if h.where == "outside":
        raise NotHere("only a box has one")
    with open("/proc/self/mountinfo") as file:
        for word in file.read().replace(",", " ").split():
            if word.startswith("upperdir=") and os.path.exists(word[9:]):
                return True
    return False


# ---- devices and the kernel ------------------------------------------------------------------------------------------


@attempt
def make_a_block_device(h):
    place = h.file + ".disk"
    os.mknod(place, stat.S_IFBLK | 0o600, os.makedev(7, 0))
    return os.open(place, os.O_RDONLY) > 0


@attempt
def make_a_memory_device(h):
    place = h.file + ".mem"
    os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 11))
    return os.open(place, os.O_RDONLY | os.O_NONBLOCK) > 0


def opens(*paths):
    there = [path for path in paths if os.path.exists(path)]
    if not there:
        raise FileNotFoundError(errno.ENOENT, "no such device")
    return os.open(there[0], os.O_RDONLY | os.O_NONBLOCK) > 0


@attempt
def open_a_disk(h):
    return opens("/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/xvda", "/dev/loop0")


@attempt
def open_the_memory_of_the_machine(h):
    return opens("/dev/mem", "/dev/kmem", "/proc/kcore")


@attempt
def open_fuse(h):
    return opens("/dev/fuse")


@attempt
def open_a_tunnel(h):
    return opens("/dev/net/tun")


@attempt
def open_loop_control(h):
    return opens("/dev/loop-control")


@attempt
def open_the_console(h):
    return opens("/dev/console", "/dev/tty0")


@attempt
def read_kernel_messages(h):
    return opens("/dev/kmsg")


@attempt
def read_kernel_messages_by_call(h):
    return checked(libc.klogctl(3, ctypes.create_string_buffer(512), 512)) >= 0


@attempt
def read_kernel_addresses(h):
    with open("/proc/kallsyms") as file:
        return any(int(line.split()[0], 16) for line in file.readlines(20000))


@attempt
def write_a_kernel_setting(h):
    return same_again("/proc/sys/vm/swappiness")


@attempt
def write_the_core_pattern(h):
    return same_again("/proc/sys/kernel/core_pattern")


@attempt
def write_the_module_loader(h):
    return same_again("/proc/sys/kernel/modprobe")


@attempt
def register_a_binary_format(h):
    return write(needs("/proc/sys/fs/binfmt_misc/status"), "1")


@attempt
def press_the_system_request_key(h):
    return write(needs("/proc/sysrq-trigger"), "h")


@attempt
def write_below_sys(h):
    return same_again("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs")


@attempt
def make_a_control_group(h):
    for base in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup"):
        if os.path.isdir(base):
            place = f"{base}/selfheal-test-{os.getpid()}"
            os.mkdir(place)
            os.rmdir(place)
            return True
    raise NotHere("no control groups")


@attempt
def set_the_release_agent(h):
    for base in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/cpu"):
        if os.path.exists(base + "/release_agent"):
            return same_again(base + "/release_agent")
    raise NotHere("no control groups of the first version")


@attempt
def use_kernel_debugging(h):
    needs("/sys/kernel/debug")
    return len(os.listdir("/sys/kernel/debug")) > 0 or not os.path.ismount("/sys/kernel/debug") and h.no("not mounted")


@attempt
def load_a_module(h):
    return passes(175, b"", 0, b"", good=(errno.ENOEXEC, errno.EINVAL, errno.EFAULT))


@attempt
def load_a_module_from_a_file(h):
    return passes(313, os.open(h.other, os.O_RDONLY), b"", 0, good=(errno.ENOEXEC, errno.EINVAL))


@attempt
def unload_a_module(h):
    return passes(176, b"selfheal_none", 0x800, good=(errno.ENOENT,))


@attempt
def load_another_kernel(h):
    return passes(246, 0, 1 << 40, 0, 0)


@attempt
def restart_the_machine(h):
    return passes(169, 1, 2, 3, 0)


@attempt
def set_the_clock(h):
    timex = ctypes.create_string_buffer(256)
    call(159, timex)
    tick = struct.unpack_from("q", timex, 88)[0]
    struct.pack_into("i", timex, 0, 0x4000)
    struct.pack_into("q", timex, 88, tick)
    return call(159, timex) >= 0


@attempt
def set_the_time_of_day(h):
    return passes(164, 0, struct.pack("ii", 0, 0)) if not os.getuid() else call(164, 0, struct.pack("ii", 0, 0)) == 0


@attempt
def set_the_name_of_the_machine(h):
    name = socket.gethostname().encode()
    checked(libc.sethostname(name, len(name)))
    return True


@attempt
def swap_to_a_file(h):
    return passes(167, b"/nowhere", 0, good=(errno.ENOENT,))


@attempt
def end_swapping(h):
    return passes(168, b"/nowhere", good=(errno.ENOENT,))


@attempt
def account_processes(h):
    return passes(163, b"/nowhere", good=(errno.ENOENT,))


@attempt
def set_quotas(h):
    return passes(179, 0x80000800, b"/dev/nowhere", 0, ctypes.create_string_buffer(256), good=(errno.ENOENT, errno.ENOTBLK, errno.ENODEV, errno.ENOSYS))


@attempt
def reach_ports_of_the_hardware(h):
    return call(173, 0x80, 1, 1) == 0


@attempt
def watch_the_whole_file_system(h):
    return call(300, 0, 0) >= 0


@attempt
def add_a_key(h):
    return call(248, b"user", b"selfheal-test", b"x", 1, -2) > 0


@attempt
def read_the_key_ring(h):
    return call(250, 6, -4, ctypes.create_string_buffer(200), 200) >= 0


@attempt
def request_a_key(h):
    return passes(249, b"user", b"selfheal-none", 0, 0, good=(errno.ENOKEY,))


@attempt
def handle_page_faults(h):
    return call(323, 1) >= 0


@attempt
def use_a_ring(h):
    return call(425, 1, ctypes.create_string_buffer(256)) >= 0


@attempt
def load_a_program_into_the_kernel(h):
    return call(321, 0, struct.pack("IIIII", 2, 4, 4, 1, 0) + bytes(100), 72) >= 0


@attempt
def count_events(h):
    attribute = bytearray(112)
    struct.pack_into("IIQ", attribute, 0, 1, 112, 1)
    struct.pack_into("Q", attribute, 40, 1 | 1 << 5 | 1 << 6)
    return call(298, bytes(attribute), 0, -1, -1, 0) >= 0


@attempt
def type_into_a_terminal(h):
    pid, master = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(0, termios.TIOCSTI, b"x")
            os._exit(0)
        except OSError as error:
            os._exit(100 + error.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(master)
    if code >= 100:
        raise OSError(code - 100, os.strerror(code - 100))
    return code == 0


@attempt
def write_to_the_terminal_of_another(h):
    return write(h.terminal, "x", os.O_WRONLY | os.O_NOCTTY)


# ---- sockets, queues, shared memory ----------------------------------------------------------------------------------


def connects(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as peer:
        peer.settimeout(5)
        peer.connect(address)
        if kind == socket.SOCK_DGRAM:
            peer.send(b"x")
            return peer.recv(9) == b"alive"
        return True


@attempt
def connect_by_ipv4(h):
    return connects(socket.AF_INET, ("127.0.0.1", h.tcp))


@attempt
def connect_by_ipv6(h):
    if not h.tcp6:
        raise NotHere("no IPv6")
    return connects(socket.AF_INET6, ("::1", h.tcp6))


@attempt
def connect_by_the_address_of_the_machine(h):
    if not h.address:
        raise NotHere("no other address than the loopback's")
    return connects(socket.AF_INET, (h.address, h.tcp))


@attempt
def send_a_datagram(h):
    return connects(socket.AF_INET, ("127.0.0.1", h.udp), socket.SOCK_DGRAM)


@attempt
def connect_to_a_service_of_the_machine(h):
    return connects(socket.AF_UNIX, h.socket)


@attempt
def send_to_a_service_of_the_machine(h):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as peer:
        return peer.sendto(b"x", h.datagrams) == 1


@attempt
def connect_to_an_abstract_socket(h):
    return connects(socket.AF_UNIX, "\0" + h.abstract)


@attempt
def listen_to_packets(h):
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3)).close()
    return True


@attempt
def send_raw_packets(h):
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()
    return True


@attempt
def open_the_audit_link(h):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9).close()
    return True


@attempt
def listen_to_device_events(h):
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15)
    link.bind((0, 1))
    return True


@attempt
def change_the_network(h):
    """A new interface, which nothing uses, and away with it."""
    def request(kind, flags):
        name = b"sh%d\0" % (h.number % 100000)
        body = struct.pack("BxHiII", 0, 0, 0, 0, 0xFFFFFFFF)
        body += struct.pack("HH", 4 + len(name), 3) + name + bytes(-len(name) % 4)
        info = struct.pack("HH", 9, 1) + b"dummy" + bytes(3)
        body += struct.pack("HH", 4 + len(info), 18) + info
        return struct.pack("IHHII", 16 + len(body), kind, flags, 1, 0) + body
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    for kind, flags in ((16, 5 | 0x600), (17, 5)):
        link.send(request(kind, flags))
        code = -struct.unpack_from("i", link.recv(4096), 16)[0]
        if code == errno.EOPNOTSUPP:
            raise NotHere("no interface of the kind dummy")
        if code:
            raise OSError(code, os.strerror(code))
    return True


@attempt
def open_a_socket_to_the_host_of_a_virtual_machine(h):
    socket.socket(40, socket.SOCK_STREAM).close()
    return True


@attempt
def open_a_socket_to_kernel_ciphers(h):
    socket.socket(38, socket.SOCK_SEQPACKET).close()
    return True


@attempt
def use_shared_memory_of_system_v(h):
    return checked(libc.shmget(h.key, 0, 0o600)) >= 0


@attempt
def use_semaphores_of_system_v(h):
    return checked(libc.semget(h.key, 0, 0o600)) >= 0


@attempt
def use_a_queue_of_system_v(h):
    return checked(libc.msgget(h.key, 0o600)) >= 0


@attempt
def use_a_queue_of_posix(h):
    return call(240, h.queue.encode(), os.O_RDWR, 0, 0) >= 0


@attempt
def use_shared_memory_of_posix(h):
    return write(h.memory, "x")


# ---- the two ways to be called ---------------------------------------------------------------------------------------


class Host:
    def __init__(self, facts, where, number):
        self.__dict__.update(facts)
        self.where, self.number = where, number
        self.target = self.victims[2] if where == "outside" else 1

    def no(self, why):
        raise NotHere(why)


def file_of(folder, function):
    return os.path.join(folder, "canaries", function.__name__)


def facts_of(path):
    try:
        facts = os.lstat(path)
        with open(path, "rb") as file:
            content = file.read()
        return [facts.st_mode, facts.st_uid, facts.st_ino, facts.st_mtime_ns, os.listxattr(path), content]
    except OSError as error:
        return [error.errno]


def hold(folder):
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    home = os.path.join(folder, "home")
    os.mkdir(os.path.join(folder, "canaries"))
    for name in (".ssh", ".aws", ".kube"):
        os.makedirs(os.path.join(home, name))
    for name in (".ssh/id", ".aws/credentials", ".kube/config", ".netrc"):
        with open(os.path.join(home, name), "w") as file:
            file.write("hush")
    for path in [file_of(folder, function) for function in ATTEMPTS] + [folder + "/other", folder + "/leak"]:
        with open(path, "w") as file:
            file.write("alive\n")
    victims = [subprocess.Popen(["sleep", "9999"], stdin=subprocess.DEVNULL) for _ in range(3)]
    tcp = socket.create_server(("127.0.0.1", 0), backlog=50)
    try:
        tcp6 = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        tcp6 = None
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    echo = lambda: [udp.sendto(b"alive", udp.recvfrom(9)[1]) for _ in iter(int, 1)]
    threading.Thread(target=echo, daemon=True).start()
    stream, datagram = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    os.chdir(folder)
    stream.bind("socket")
    stream.listen(9)
    datagram.bind("datagrams")
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0selfheal-test-{os.getpid()}")
    abstract.listen(9)
    key = os.getpid() | 0x5E000000
    shared, semaphores, queue = (
        libc.shmget(key, 4096, 0o1600), libc.semget(key, 1, 0o1600), libc.msgget(key, 0o1600)
    )
    name = f"selfheal-test-{os.getpid()}"
    if platform.machine() == "x86_64":
        libc.syscall(240, name.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
    with open("/dev/shm/" + name, "w") as file:
        file.write("alive\n")
    master, slave = pty.openpty()
    before = {function.__name__: facts_of(file_of(folder, function)) for function in ATTEMPTS}
    facts = {
        "home": home, "other": folder + "/other", "leak": folder + "/leak", "victims": [v.pid for v in victims],
        "tcp": tcp.getsockname()[1], "tcp6": tcp6 and tcp6.getsockname()[1], "udp": udp.getsockname()[1],
        "socket": folder + "/socket", "datagrams": folder + "/datagrams", "abstract": name, "key": key, "queue": name,
        "memory": "/dev/shm/" + name, "terminal": os.ttyname(slave), "address": None,
    }
    with open(folder + "/host.json.new", "w") as file:
        json.dump(facts, file)
    os.rename(folder + "/host.json.new", folder + "/host.json")
    sys.stdin.read()
    changed = [f.__name__ for f in ATTEMPTS if facts_of(file_of(folder, f)) != before[f.__name__]]
    changed += [n for n, victim in (("kill_a_process", 0), ("kill_a_process_by_descriptor", 1)) if victims[victim].poll() is not None]
    changed += ["write_to_a_descriptor_left_open"] * (open(folder + "/leak").read() != "alive\n")
    changed += ["use_shared_memory_of_posix"] * (open("/dev/shm/" + name).read() != "alive\n")
    print(json.dumps(changed))
    for victim in victims:
        victim.kill()
    libc.shmctl(shared, 0, None), libc.semctl(semaphores, 0, 0), libc.msgctl(queue, 0, None)
    if platform.machine() == "x86_64":
        libc.syscall(241, name.encode())
    os.unlink("/dev/shm/" + name)


def make_one(function, folder, host):
    host.file = file_of(folder, function)
    # Each in a process of its own: what it breaks, breaks for it alone.
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            got_out = function(host)
            said = {True: "out", False: "held", None: "look"}[got_out], ""
        except NotHere as why:
            said = "absent", str(why)
        except OSError as error:
            said = "held", errno.errorcode.get(error.errno, str(error))
        except Exception as error:
            said = "broken", repr(error)
        os.write(writer, json.dumps(said).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(pid, 0)
    result, why = json.loads(text) if text else ("held", "it was ended")
    print(json.dumps({"name": function.__name__, "result": result, "why": why}), flush=True)


def main():
    _, mode, folder, *rest = sys.argv
    if mode == "hold":
        return hold(folder)
    with open(folder + "/host.json") as file:
        facts = json.load(file)
    os.chdir(folder)
    for number, function in enumerate(ATTEMPTS):
        make_one(function, folder, Host(facts, rest[0], os.getpid() + number))


main()
