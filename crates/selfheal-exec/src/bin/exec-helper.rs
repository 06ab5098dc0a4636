//! A program that does nothing but the hidden commands, for tests of this crate.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code = selfheal_exec::hidden_command(&args).unwrap_or(2);
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}
