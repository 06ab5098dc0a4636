//! Attempts to get out of a box. Each leaves the machine as it was.

use std::io::{ErrorKind, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Child, Command};

use selfheal_core::ports::BoxedRun;

use super::{Place, can_try, is_root, said};

/// Something on the machine that must not change.
struct Canary {
    place: Place,
    process: Child,
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Canary {
    fn new() -> Option<Self> {
        let place = Place::new();
        if !can_try(&place) {
            return None;
        }
        place.write("canary", "alive\n");
        let process = Command::new("sleep").arg("9999").spawn().unwrap();
        Some(Self { place, process })
    }

    /// Runs an attempt; `$C` is the file, `$P` the process.
    fn attempt(&mut self, line: &str) -> BoxedRun {
        let file = self.place.work.join("canary");
        let before = std::fs::metadata(&file).unwrap();
        let run = self.place.sh(&format!("C={}; P={}\n{line}", file.display(), self.process.id()));
        let after = std::fs::metadata(&file).unwrap();
        let facts = |facts: &std::fs::Metadata| {
            (facts.mode(), facts.uid(), facts.ino(), facts.mtime(), facts.ctime())
        };
        assert_eq!(facts(&before), facts(&after), "{line}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "alive\n", "{line}");
        assert!(self.process.try_wait().unwrap().is_none(), "{line}");
        run
    }
}

/// Lines that must have no effect outside, whether they succeed inside or not. Here as below, a line that got out would
/// hit the test's own things only.
const HARMLESS: [&str; 12] = [
    "echo dead > $C",
    "rm -f $C; rm -rf \"$(dirname \"$C\")\"",
    "chmod 777 $C; touch -d 2001-01-01 $C; chown 12:34 $C",
    "truncate -s 0 $C; mv $C $C.moved",
    "ln $C hard && echo dead > hard",
    "ln -s $C soft && echo dead > soft",
    "exec 3<>$C; echo dead >&3",
    "perl -e 'open F, \"+<\", shift; print F \"dead\\n\"; truncate F, 2' $C",
    "dd if=/dev/zero of=$C conv=notrunc count=1",
    "chattr +i $C; setfattr -n user.x -v y $C; setfacl -m u:1:rwx $C",
    "kill -9 $P",
    "cp /bin/sh s; chmod u+s s; ./s -c \"echo dead > $C\"",
];

#[test]
fn changes_of_every_kind_stay_inside() {
    let Some(mut canary) = Canary::new() else { return };
    for line in HARMLESS {
        canary.attempt(line);
    }
}

/// Lines that must fail: each would be a step out.
const REFUSED: [&str; 30] = [
    "mkdir m; mount -t tmpfs none m",
    "mkdir m; mount --bind / m",
    "mount -o remount,rw /sys",
    "umount /dev/shm",
    "unshare -m true",
    "unshare -Ur true",
    "nsenter -t 1 -m true",
    "chroot / true",
    "ls /proc/1/root/",
    "cat /proc/1/environ",
    ": >> /proc/1/exe",
    ": >> /proc/1/mem",
    "readlink /proc/1/fd/0 || cat /proc/1/fd/0",
    "test -e /proc/$P",
    ": > /proc/sysrq-trigger",
    "v=$(cat /proc/sys/vm/swappiness); echo $v > /proc/sys/vm/swappiness",
    "v=$(cat /proc/sys/kernel/core_pattern); echo \"$v\" > /proc/sys/kernel/core_pattern",
    "mkdir /sys/fs/cgroup/selfheal-test || mkdir /sys/fs/cgroup/pids/selfheal-test",
    "mknod disk b 254 0",
    "mknod mem c 1 1",
    "test -e /dev/mem || test -e /dev/kmsg || test -e /dev/vda || test -e /dev/sda || test -e /dev/nvme0n1",
    "head -c 1 /proc/kcore | grep -q .",
    "head -c 1 /proc/kmsg | grep -q .",
    "dmesg",
    "renice -n -5 -p $$",
    "chattr +i $C",
    "date -s \"$(date)\" || hostname \"$(hostname)\"",
    "command -v strace > /dev/null && strace -o /dev/null true",
    "command -v keyctl > /dev/null && keyctl show",
    "ls -l /proc/self/fd | grep -v -E ' (0|1|2|3) -> |^total'",
];

#[test]
fn steps_out_are_refused() {
    let Some(mut canary) = Canary::new() else { return };
    for line in REFUSED {
        let run = canary.attempt(line);
        assert_ne!(run.run.ended.code(), 0, "{line}: {:?}", said(&run));
    }
}

/// System calls by number: (name, number on x86-64, arguments, the error that is wanted).
#[cfg(target_arch = "x86_64")]
const CALLS: [(&str, u32, &str, i32); 12] = [
    ("clone into a user namespace", 56, "0x10000011,0,0,0,0", 1),
    ("clone3", 435, "0,0", 38),
    ("unshare", 272, "0x10000000", 1),
    ("setns", 308, "0,0", 1),
    ("ptrace", 101, "0,0,0,0", 1),
    ("bpf", 321, "0,0,0", 1),
    ("io_uring_setup", 425, "1,0", 38),
    ("userfaultfd", 323, "0", 1),
    ("keyctl", 250, "0,0", 1),
    ("process_vm_writev", 311, "1,0,0,0,0,0", 1),
    ("open_tree", 428, "0,0,0", 1),
    ("getpid of x32", 0x4000_0027, "", 38),
];

#[cfg(target_arch = "x86_64")]
#[test]
fn dangerous_system_calls_are_refused() {
    let Some(mut canary) = Canary::new() else { return };
    for (name, number, arguments, errno) in CALLS {
        let comma = if arguments.is_empty() { "" } else { "," };
        let line = format!("perl -e 'exit 99 if syscall({number}{comma}{arguments}) != -1; exit $!+0'");
        assert_eq!(canary.attempt(&line).run.ended.code(), errno, "{name}");
    }
    // Address families: packet, netlink audit, ALG, VSOCK are refused; IPv4, unix and netlink route are not.
    for (family, kind, protocol, code) in [
        (17, 3, 0, 1),
        (16, 3, 9, 1),
        (38, 5, 0, 1),
        (40, 1, 0, 1),
        (2, 1, 0, 0),
        (1, 1, 0, 0),
        (16, 3, 0, 0),
    ] {
        let line = format!("perl -e 'exit 0 if syscall(41, {family}, {kind}, {protocol}) != -1; exit $!+0'");
        assert_eq!(canary.attempt(&line).run.ended.code(), code, "family {family}");
    }
}

#[test]
fn no_host_socket_can_be_reached() {
    let Some(mut canary) = Canary::new() else { return };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let path = UnixListener::bind(canary.place.work.join("socket")).unwrap();
    let name = format!("selfheal-test-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    path.set_nonblocking(true).unwrap();
    hidden.set_nonblocking(true).unwrap();
    let port = tcp.local_addr().unwrap().port();
    let run = canary.attempt(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}"));
    assert_eq!(run.run.ended.code(), 1);
    assert!(run.inconclusive.unwrap().contains("network"));
    canary.attempt(&format!("echo x > /dev/udp/127.0.0.1/{}", udp.local_addr().unwrap().port()));
    let dial = |address: &str| {
        format!(
            "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); exit(connect(S,sockaddr_un({address})) ? 0 : 1)'"
        )
    };
    assert_eq!(canary.attempt(&dial("\"socket\"")).run.ended.code(), 1);
    assert_eq!(canary.attempt(&dial(&format!("\"\\0{name}\""))).run.ended.code(), 1);
    let nothing = |kind: ErrorKind| assert_eq!(kind, ErrorKind::WouldBlock);
    nothing(tcp.accept().unwrap_err().kind());
    nothing(udp.recv(&mut [0]).unwrap_err().kind());
    nothing(path.accept().unwrap_err().kind());
    nothing(hidden.accept().unwrap_err().kind());
}

#[test]
fn a_box_has_a_loopback_of_its_own() {
    let Some(mut canary) = Canary::new() else { return };
    let run = canary.attempt(
        "perl -MIO::Socket::INET -e '$l = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1:0\") or exit 2; \
         $c = IO::Socket::INET->new(\"127.0.0.1:\" . $l->sockport) or exit 3; print $c \"hi\\n\"; close $c; \
         print $l->accept->getline'",
    );
    assert_eq!(said(&run), (0, "hi\n".to_owned(), String::new()));
}

#[test]
fn every_mount_is_a_copy_or_read_only() {
    let Some(mut canary) = Canary::new() else { return };
    let text = canary.attempt("cat /proc/self/mountinfo").run.stdout.text();
    assert!(text.lines().count() > 5, "{text}");
    for line in text.lines() {
        let (left, right) = line.split_once(" - ").unwrap();
        let fields: Vec<&str> = left.split(' ').collect();
        let kind = right.split(' ').next().unwrap();
        let read_only = fields[5].split(',').any(|option| option == "ro");
        let own = matches!(kind, "overlay" | "tmpfs" | "proc" | "devpts");
        let device = ["null", "zero", "full", "random", "urandom", "tty"]
            .iter()
            .any(|name| fields[4] == format!("/dev/{name}"));
        assert!(own || read_only || device, "{line}");
    }
}

#[test]
fn secrets_and_the_store_are_hidden() {
    let Some(canary) = Canary::new() else { return };
    let place = &canary.place;
    let home = place.work.join("home");
    for folder in [".ssh", ".config/gcloud", "elsewhere"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    for file in [".ssh/id", ".config/gcloud/x", ".netrc", "mine", "elsewhere/linked"] {
        std::fs::File::create(home.join(file)).unwrap().write_all(b"hush").unwrap();
    }
    std::os::unix::fs::symlink(home.join("elsewhere"), home.join(".aws")).unwrap();
    let store = place.work.parent().unwrap().join("store");
    std::fs::write(store.join("state"), "hush").unwrap();
    let mut order = place.shell(&format!("grep -r hush {} {}", home.display(), store.display()));
    order.env.insert("HOME".into(), home.clone().into());
    order.hidden = vec![home.join("mine"), home.join("not-there")];
    let run = place.run(&order);
    assert!(!run.run.stdout.text().contains("hush"), "{:?}", said(&run));
    order.argv =
        ["bash", "-c", "echo x > ~/.ssh/new || echo x > ~/.netrc || echo x > ~/mine"].map(Into::into).into();
    assert_ne!(place.run(&order).run.ended.code(), 0);
    order.argv = ["cat", home.join(".ssh/id").to_str().unwrap()].map(Into::into).into();
    let run = place.run(&order);
    assert!(run.inconclusive.unwrap().contains("hidden"), "{:?}", run.run.stderr.text());
    if is_root() {
        assert_eq!(place.sh("cat /etc/shadow").run.stdout.text(), "");
    }
}

#[test]
fn the_machine_looks_as_it_does_outside() {
    let Some(mut canary) = Canary::new() else { return };
    // Who is not mapped into the namespace of an ordinary user looks like nobody there.
    let owners = if is_root() {
        "stat -c '%a %U %G' / /etc /usr/bin/env /tmp"
    } else {
        "stat -c %a /usr/bin/env /tmp"
    };
    let line = format!(
        "{owners}; id -u; id -g; umask; pwd; readlink -f /bin/sh; cat /etc/hostname; ls / | sort; \
         for f in / /etc /etc/passwd /usr /mnt /tmp /var/tmp $HOME; do test -w $f; echo $f $?; done"
    );
    let outside = Command::new("bash").args(["-c", &line]).current_dir(&canary.place.work).output().unwrap();
    let inside = canary.attempt(&line).run.stdout.text();
    assert_eq!(inside, String::from_utf8_lossy(&outside.stdout));
}

#[test]
fn ordinary_work_works() {
    let Some(mut canary) = Canary::new() else { return };
    for line in [
        "t=$(mktemp -d) && echo x > $t/a && test -s $t/a && rm -r $t",
        "TMPDIR=/var/tmp; t=$(mktemp -p /var/tmp) && rm $t",
        "printf '#!/bin/sh\\nexit 0\\n' > tool && chmod +x tool && ./tool",
        "mkdir p && (cd p && tar cf ../x.tar . && tar xf ../x.tar)",
        "echo a | tee b | sort | uniq -c > c && diff <(cat b) <(echo a)",
        "exec 9> lock && flock -n 9 && sync lock",
        "mkfifo f && (echo hi > f &) && read -r x < f && test $x = hi",
        "echo x > /dev/shm/x && cat /dev/shm/x && echo y > /dev/null && head -c 1 /dev/urandom > r",
        "! command -v git > /dev/null || (git init -q g && cd g && git -c user.name=a -c user.email=b commit -q --allow-empty -m m)",
        "! command -v python3 > /dev/null || python3 -c 'import multiprocessing as m; m.Lock(); import sqlite3; c=sqlite3.connect(\"d.db\"); c.execute(\"pragma journal_mode=wal\"); c.execute(\"create table t(x)\"); c.commit()'",
    ] {
        let run = canary.attempt(line);
        assert_eq!(run.run.ended.code(), 0, "{line}: {:?}", said(&run));
    }
}
