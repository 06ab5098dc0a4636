//! Whether a job that writes nothing waits for a person: looked at after a while, and ever less often.

use std::time::{Duration, Instant};

use rustix::termios::{LocalModes, tcgetattr};
use selfheal_core::run::{Act, Idle};

use super::moment;
use super::stream::Stream;
use super::terminal::Terminal;

/// How long a job says nothing before it is looked at: where nobody is there, and at a terminal.
const SILENCE: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];
/// How rarely it is looked at in the end.
const RAREST: Duration = Duration::from_secs(600);
/// Bytes of the end of each stream that go with what is seen.
const LAST: usize = 800;

/// When it is looked next.
pub(crate) struct Watch {
    silence: Duration,
    wait: Duration,
    next: Instant,
}

impl Watch {
    /// A watch that begins now.
    pub(crate) fn new(at_terminal: bool) -> Self {
        let [unattended, attended] = SILENCE;
        let silence = if at_terminal { attended } else { unattended };
        Self { silence, wait: silence, next: Instant::now() + silence }
    }

    /// The job wrote something, or somebody typed.
    pub(crate) fn alive(&mut self, now: Instant) {
        (self.wait, self.next) = (self.silence, now + self.silence);
    }

    /// The job was stopped because it wanted a terminal: no need to wait.
    pub(crate) fn at_once(&mut self) {
        self.next = Instant::now();
    }

    /// When it is looked next.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// What the job does, when it is time to look and it may wait for a person.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        terminal: Option<&Terminal>,
        streams: &[Stream; 2],
    ) -> Option<Idle> {
        if now < self.next {
            return None;
        }
        self.wait = (self.wait * 2).min(RAREST);
        self.next = now + self.wait;
        if terminal.is_some_and(|terminal| !reads_lines(terminal)) {
            return None;
        }
        let silent = u64::try_from(self.silence.as_millis()).unwrap_or(u64::MAX);
        let [stdout, stderr] = streams.each_ref().map(|stream| stream.last(LAST));
        let idle = Idle { moment: moment::look(silent), stdout, stderr };
        may_wait(&idle).then_some(idle)
    }
}

/// Whether a terminal gives whole lines, as for an answer: a program that has the screen to itself takes single keys.
fn reads_lines(terminal: &Terminal) -> bool {
    tcgetattr(terminal.fd()).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
}

fn may_wait(idle: &Idle) -> bool {
    let reads = |act: Act| act == Act::Read;
    let unended = |stream: &[u8]| stream.last().is_some_and(|last| *last != b'\n');
    let reader = idle.moment.processes.iter().any(|seen| seen.waits.as_ref().is_some_and(|it| reads(it.act)));
    idle.moment.waits_for_terminal().is_some() || reader || unended(&idle.stdout) || unended(&idle.stderr)
}
