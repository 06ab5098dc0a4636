//! Everything that goes to standard error: colours, the progress line, the story of an incident, questions.

mod paint;
mod progress;
mod story;
mod words;

pub use paint::{Paint, clean, shown_path};
pub use progress::Progress;
pub use story::Story;
pub use words::{Plain, hint, reason};
