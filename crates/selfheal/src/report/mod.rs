//! `selfheal report`: what happened in some days, for people. [`mod@gather`] counts, [`sections`] says it in words, and one file a
//! form writes it: [`plain`] for terminals and Markdown, [`mod@html`] with charts.

mod gather;
mod html;
mod plain;
mod sections;

pub use gather::gather;
pub use html::{html, html_mail};
pub use plain::{markdown, terminal};
