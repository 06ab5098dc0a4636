//! One line that says what is being done: a spinner on a terminal, nothing elsewhere, where the story says it all.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress line.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A progress line on standard error, drawn only when that is a terminal.
    #[must_use]
    pub fn new(terminal: bool) -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_draw_target(if terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        });
        if let Ok(style) = ProgressStyle::with_template("selfheal: {spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// Says what is being done now.
    pub fn say(&self, text: String) {
        let text = super::clean(&text);
        if !self.bar.is_hidden() {
            self.bar.enable_steady_tick(Duration::from_millis(120));
        }
        self.bar.set_message(text);
    }

    /// Takes the line away, so that the job or the story can write.
    pub fn clear(&self) {
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
    }
}
