//! The public surface, with real files and real shells: what rules propose is put in place and run.

mod backup;
mod hostile;
mod machine;
mod shells;
