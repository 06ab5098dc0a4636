//! `selfheal review` on a real terminal: a pseudo-terminal of the test's own, whose screen is read as a terminal reads it.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::num::NonZero;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use selfheal_core::ids::IncidentId;
use selfheal_core::incident::Incident;
use selfheal_core::ports::{IncidentFilter, Journal};
use selfheal_core::redact::Redactor;
use selfheal_store::{Store, StoreOptions};
use selfheal_testkit::TestEnv;

use crate::support::{BACKUP, backup_env, env, only_incident};

/// Do not make it the controlling terminal of the test.
const NOCTTY: i32 = 0o400;

/// How long something may take, however slow the machine is.
const PATIENCE: Duration = Duration::from_secs(300);

/// A review on a terminal.
struct Review {
    keys: Option<File>,
    terminal: Option<File>,
    shown: Arc<Mutex<(vt100::Parser, Vec<u8>)>>,
    child: Child,
    reader: Option<JoinHandle<()>>,
}

fn size_of(cells: u16) -> NonZero<u16> {
    NonZero::new(cells).unwrap()
}

impl Review {
    fn start(env: &TestEnv, (rows, columns): (u16, u16)) -> Self {
        // A terminal whose other end its own program held open would never be gone.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let name = rustix::pty::ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let terminal = File::options().read(true).write(true).custom_flags(NOCTTY).open(name).unwrap();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        rustix::io::ioctl_fionbio(&master, true).unwrap();
        let known = env.command(&[]);
        let mut command = Command::new("setsid");
        command.args(["--ctty", env!("CARGO_BIN_EXE_selfheal"), "review"]).env_clear();
        command.current_dir(known.get_current_dir().unwrap()).env("TERM", "xterm-256color");
        for (name, value) in known.get_envs() {
            command.env(name, value.unwrap());
        }
        let end = || terminal.try_clone().unwrap();
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let keys = File::from(master);
        let mut output = keys.try_clone().unwrap();
        let shown =
            Arc::new(Mutex::new((vt100::Parser::new(size_of(rows), size_of(columns), 0), Vec::new())));
        let filling = Arc::clone(&shown);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Nobody else holds what is shown when the review is hung up.
            while Arc::strong_count(&filling) > 1 {
                match output.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        let mut shown = filling.lock().unwrap();
                        shown.0.process(&buffer[..count]);
                        shown.1.extend_from_slice(&buffer[..count]);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        std::thread::park_timeout(Duration::from_millis(5));
                    }
                    Err(_) => break,
                }
            }
        });
        Self { keys: Some(keys), terminal: Some(terminal), shown, child, reader: Some(reader) }
    }

    /// Takes the terminal away, as a connection that breaks does, and waits for the end.
    fn hang_up(mut self) -> i32 {
        drop(self.terminal.take());
        drop(self.keys.take());
        let nothing = vt100::Parser::new(size_of(1), size_of(1), 0);
        drop(std::mem::replace(&mut self.shown, Arc::new(Mutex::new((nothing, Vec::new())))));
        self.reader.take().unwrap().join().unwrap();
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(begin.elapsed() < PATIENCE, "it goes on without a terminal");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }

    fn screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.shown.lock().unwrap().0.screen())
    }

    fn text(&self) -> String {
        self.screen(vt100::Screen::contents)
    }

    /// Waits until the screen shows a text.
    fn wait_for(&self, text: &str) -> String {
        let begin = Instant::now();
        loop {
            let shown = self.text();
            if shown.contains(text) {
                return shown;
            }
            assert!(begin.elapsed() < PATIENCE, "no {text:?} on:\n{shown}");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }

    fn type_in(&mut self, keys: &str) {
        // A terminal takes only so much at once.
        let mut rest = keys.as_bytes();
        while !rest.is_empty() {
            match self.keys.as_mut().unwrap().write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::park_timeout(Duration::from_millis(5));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn resize(&self, rows: u16, columns: u16) {
        self.shown.lock().unwrap().0.screen_mut().set_size(size_of(rows), size_of(columns));
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(self.terminal.as_ref().unwrap(), size).unwrap();
    }

    /// Waits for its end, and that the terminal is as it was.
    fn ended(mut self) -> i32 {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begin.elapsed() < PATIENCE, "it does not end:\n{}", self.text());
            std::thread::park_timeout(Duration::from_millis(10));
        };
        let modes = tcgetattr(self.terminal.as_ref().unwrap()).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "the terminal is left as it was");
        // What it wrote last may still be on its way.
        while self.screen(vt100::Screen::alternate_screen) || self.screen(vt100::Screen::hide_cursor) {
            assert!(begin.elapsed() < PATIENCE, "the screen and cursor are not given back");
            std::thread::park_timeout(Duration::from_millis(10));
        }
        status.code().unwrap_or(-1)
    }
}

impl Drop for Review {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn held() -> TestEnv {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    env
}

#[test]
fn on_80_by_24_a_repair_is_looked_at_and_approved_by_keys_alone() {
    let env = held();
    let mut review = Review::start(&env, (24, 80));
    // A screen may be seen while it is drawn.
    for text in ["1 repair waits", "bash backup.sh", "cp: ", "risk low", "a approve", "q leave"] {
        review.wait_for(text);
    }
    review.type_in("\r\x1b[F");
    let page = review.wait_for("+");
    assert!(page.lines().count() <= 24);
    review.type_in("\x1b[H");
    review.wait_for("changes");
    review.wait_for("backup.sh");
    review.type_in("a");
    review.wait_for("Apply 1 repair? y/n");
    review.type_in("n");
    review.type_in("a");
    review.type_in("y");
    review.wait_for("1 applied");
    review.wait_for("Nothing waits");
    assert_ne!(env.read("backup.sh"), BACKUP);
    review.type_in("q");
    assert_eq!(review.ended(), 0);
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn the_screen_follows_the_size_of_the_terminal() {
    let env = held();
    let mut review = Review::start(&env, (24, 80));
    review.wait_for("q leave");
    review.resize(10, 40);
    // Only a fresh drawing for this size has the title's end in the first row and the keys in the last.
    let begin = Instant::now();
    loop {
        let (first, last) = review.screen(|screen| {
            let rows: Vec<String> = screen.rows(0, 40).collect();
            (rows[0].clone(), rows[9].clone())
        });
        if first.contains("1 repair waits") && last.contains("a approve") {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "{}", review.text());
        std::thread::park_timeout(Duration::from_millis(10));
    }
    review.resize(3, 10);
    review.resize(40, 120);
    review.wait_for("q leave");
    review.type_in("?");
    review.wait_for("Ctrl-C");
    review.type_in("x\x03");
    assert_eq!(review.ended(), 0);
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn several_are_marked_and_decided_at_once() {
    let env = env();
    for name in ["one", "two"] {
        let script = "#!/bin/bash\nset -eu\ncp in.txt \"$(basename \"$0\" .sh)-out/in.txt\"\n";
        env.write(&format!("{name}.sh"), script);
        env.write("in.txt", "x\n");
        env.run(&["run", "--", "bash", &format!("{name}.sh")]);
    }
    let mut review = Review::start(&env, (24, 80));
    review.wait_for("2 repairs wait");
    review.type_in("  ");
    review.wait_for("2 marked");
    review.type_in("r");
    review.wait_for("Reject 2; why?");
    review.type_in("the disk is being moveed\x7f\x7fd\r");
    review.wait_for("2 rejected");
    review.wait_for("Nothing waits");
    review.type_in("q");
    assert_eq!(review.ended(), 0);
    let listed = env.run(&["incidents", "--json"]).stdout;
    assert_eq!(listed.matches("the disk is being moved").count(), 2, "{listed}");
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert!(listed.as_array().unwrap().iter().all(|one| one["status"] == "refused"), "{listed:#}");
}

#[test]
fn an_edited_repair_is_tried_again_and_then_approved() {
    let env = held();
    let editor = env.script("editor", "#!/bin/sh\necho '# looked at by a person' >> \"$1\"\n");
    let env = env.with("VISUAL", &editor);
    let mut review = Review::start(&env, (24, 80));
    review.wait_for("1 repair waits");
    review.type_in("e");
    review.wait_for("took the place of the old one");
    review.type_in("\r");
    review.wait_for("a approve");
    assert_eq!(env.read("backup.sh"), BACKUP, "nothing is applied by editing");
    review.type_in("a");
    review.wait_for("Apply 1 repair? y/n");
    review.type_in("y");
    review.wait_for("1 applied");
    assert!(env.read("backup.sh").ends_with("# looked at by a person\n"));
    review.type_in("q");
    assert_eq!(review.ended(), 0);
    assert_eq!(env.run(&["undo", &only_incident(&env)]).code, 0);
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn an_edit_that_hides_the_failure_is_not_taken() {
    let env = held();
    let editor = env.script("editor", "#!/bin/sh\nprintf '#!/bin/bash\\nexit 0\\n' > \"$1\"\n");
    let env = env.with("EDITOR", &editor);
    let mut review = Review::start(&env, (24, 80));
    review.wait_for("1 repair waits");
    review.type_in("e");
    review.wait_for("was not taken");
    review.type_in("\r");
    review.wait_for("1 repair waits");
    review.type_in("q");
    assert_eq!(review.ended(), 0);
    assert_eq!(env.read("backup.sh"), BACKUP);
    let incident = env.run(&["show", &only_incident(&env)]).stdout;
    assert!(incident.contains("round 1") && !incident.contains("round 2"), "{incident}");
}

#[test]
fn what_was_changed_since_is_told_and_not_applied() {
    let env = held();
    env.write("backup.sh", format!("{BACKUP}# mine\n"));
    let mut review = Review::start(&env, (24, 80));
    review.wait_for("A file was changed since");
    review.type_in("a");
    review.wait_for("cannot be applied");
    review.type_in("yq");
    assert_eq!(review.ended(), 0);
    assert_eq!(env.read("backup.sh"), format!("{BACKUP}# mine\n"));
}

#[test]
fn colours_are_for_those_who_want_them_and_hostile_text_does_nothing() {
    let env = env();
    env.write("in.txt", "x\n");
    let name = "a\u{1b}[41m\u{202e}b.sh";
    env.write(name, "#!/bin/bash\nset -eu\n# \u{202e}\u{1b}[41mcomment\ncp in.txt out/in.txt\n");
    env.run(&["run", "--", "bash", name]);
    let colours = |review: &Review| {
        review.screen(|screen| {
            let (rows, columns) = screen.size();
            let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
            cells
                .filter(|(row, column)| {
                    screen.cell(*row, *column).is_some_and(|cell| cell.fgcolor() != vt100::Color::Default)
                })
                .count()
        })
    };
    let end = |mut review: Review| {
        review.wait_for("1 repair waits");
        review.type_in("\r\x1b[F");
        review.wait_for("mkdir");
        let found = colours(&review);
        let raw = String::from_utf8_lossy(&review.shown.lock().unwrap().1).into_owned();
        assert!(!raw.contains('\u{202e}') && !raw.contains("\u{1b}[41m"), "{raw:?}");
        review.type_in("q");
        assert_eq!(review.ended(), 0);
        found
    };
    assert!(end(Review::start(&env, (30, 100))) > 0);
    let plain = env.with("NO_COLOR", "1");
    assert_eq!(end(Review::start(&plain, (30, 100))), 0);
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_usable() {
    let env = held();
    for signal in ["TERM", "HUP"] {
        let review = Review::start(&env, (24, 80));
        review.wait_for("1 repair waits");
        let sent =
            Command::new("kill").args([&format!("-{signal}"), &review.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        assert_eq!(review.ended(), 0);
    }
}

#[test]
fn a_signal_in_the_middle_of_a_key_ends_it_too() {
    let env = held();
    let mut review = Review::start(&env, (24, 80));
    review.wait_for("1 repair waits");
    // The beginning of a sequence that never comes to its end: reading it blocks.
    review.type_in("\x1b[<0;1");
    let sent = Command::new("kill").args(["-TERM", &review.child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    assert_eq!(review.ended(), 0);
}

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let outcome = env().run(&["review"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("selfheal incidents --held"), "{outcome:?}");
}

#[test]
fn a_terminal_that_is_gone_ends_it_in_order_wherever_it_is() {
    for keys in ["", "\x1b[<0;1", "a", "rwhy"] {
        let env = held();
        let mut review = Review::start(&env, (24, 80));
        review.wait_for("1 repair waits");
        review.type_in(keys);
        assert_eq!(review.hang_up(), 0, "{keys:?}");
        assert_eq!(env.read("backup.sh"), BACKUP, "what was not decided is not decided by that");
        let listed = env.run(&["incidents", "--held"]);
        assert!(listed.stdout.contains("backup.sh"), "{listed:?}");
    }
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_told() {
    let env = held().with("SELFHEAL_FAILPOINT_PANIC", "review.draw");
    let review = Review::start(&env, (24, 80));
    review.wait_for("a test asked for it at review.draw");
    assert_eq!(review.ended(), 101);
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn in_the_smallest_terminal_it_goes_on_and_keys_mean_the_same() {
    for size in [(1, 1), (2, 3), (5, 8)] {
        let env = held();
        let mut review = Review::start(&env, size);
        // What it draws cannot be read here: it is ready when it has taken the terminal.
        let begin = Instant::now();
        while !review.screen(vt100::Screen::alternate_screen) {
            assert!(begin.elapsed() < PATIENCE, "{size:?}");
            std::thread::park_timeout(Duration::from_millis(10));
        }
        review.type_in("\r\x1b[F\x1b[H?x jk");
        review.resize(24, 80);
        review.wait_for("1 repair waits");
        review.type_in("q");
        assert_eq!(review.ended(), 0, "{size:?}");
        assert_eq!(env.read("backup.sh"), BACKUP);
    }
}

/// So many incidents that wait, made from the one that does; what is done to each by its number.
fn multiply(env: &TestEnv, many: u32, change: impl Fn(u32, &mut Incident)) {
    let store = Store::open(&env.state(), StoreOptions { patience_ms: 120_000 }).unwrap();
    let like = store.incidents(&IncidentFilter::default()).unwrap().remove(0);
    for number in 1..=many {
        // Older than the first, in order.
        let mut incident = Incident {
            id: IncidentId::new(format!("01890a5d-ac96-774b-bcce-{number:012x}")),
            opened: selfheal_core::ids::Timestamp(like.opened.0 - i64::from(number) * 1_000),
            ..like.clone()
        };
        change(number, &mut incident);
        store.store(&incident, &[]).unwrap();
    }
}

#[test]
fn a_thousand_that_wait_are_gone_through_and_hostile_ones_stay_in_their_place() {
    let env = held();
    let redact = |text: &str| Redactor::default().text(text);
    let hostile = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}\r\n\u{9b}31m";
    multiply(&env, 999, |number, incident| {
        incident.command = redact(&format!("job-{number} {hostile}"));
        if number < 999 {
            return;
        }
        incident.note = Some(redact(&hostile.repeat(2_000)));
        let round = incident.rounds.last_mut().unwrap();
        let long = format!("{}{}", "| ".repeat(3_000), "wide \u{6587}\u{1b}[41m".repeat(20_000));
        round.diff = Some(redact(&format!("--- /a.sh\n+++ /a.sh\n@@ -1 +1 @@\n-{long}\n+{long} END\n")));
        round.summary = vec![redact(&hostile.repeat(500))];
    });
    let mut review = Review::start(&env, (24, 80));
    review.wait_for("1000 repairs wait");
    review.type_in(&"j".repeat(998));
    review.wait_for("job-998 x");
    review.type_in("j\r");
    review.wait_for("job-999 x");
    review.type_in("\x1b[F");
    review.wait_for("END");
    let raw = String::from_utf8_lossy(&review.shown.lock().unwrap().1).into_owned();
    for part in ["\u{1b}]0;", "\u{202e}", "\u{1b}[41m", "\u{9b}"] {
        assert!(!raw.contains(part), "{part:?}");
    }
    review.type_in("q");
    assert_eq!(review.ended(), 0);
}

/// Two people look at the same repair; both press the keys that apply it.
#[test]
fn two_reviewers_at_once_decide_once() {
    let env = held();
    let (mut one, mut two) = (Review::start(&env, (24, 80)), Review::start(&env, (24, 80)));
    one.wait_for("1 repair waits");
    two.wait_for("1 repair waits");
    two.type_in("a");
    two.wait_for("Apply 1 repair? y/n");
    one.type_in("ay");
    one.wait_for("1 applied");
    let repaired = env.read("backup.sh");
    assert_ne!(repaired, BACKUP);
    two.type_in("y");
    // It was told by the other, or asked the store itself by then.
    two.wait_for("Nothing waits");
    for review in [&mut one, &mut two] {
        review.type_in("q");
    }
    assert_eq!((one.ended(), two.ended()), (0, 0));
    assert_eq!(env.read("backup.sh"), repaired);
    let record = env.run(&["audit", "show"]).stdout;
    assert_eq!(record.matches(" approved ").count(), 1, "{record}");
    assert_eq!(env.run(&["undo", "--last"]).code, 0);
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn what_cannot_be_decided_any_more_is_told_by_the_command_line_too() {
    let env = held();
    let id = only_incident(&env);
    assert_eq!(env.run(&["approve", &id, &id]).code, 0, "named twice, decided once");
    for words in [["approve", &id], ["reject", &id]] {
        let again = env.run(&words);
        assert!(again.code == 1 && again.stderr.contains("does not wait for a decision"), "{again:?}");
    }
}
