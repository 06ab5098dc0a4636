//! `selfheal bench`: runs selfheal on a folder of failing jobs (`docs/bench.md` says what a case is) and counts what was
//! truly put right.
//!
//! Every case is laid out in a fresh folder with a state of its own, selfheal runs there as a child, and the case's own
//! check, which looks at results in several start states, has the last word. Several cases run at once; each has its own
//! folders, so that none sees another. Figures are a developer's: they are English in every language.

mod case;
mod figures;
mod sheet;
mod trial;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::{Ended, print, tell};
use crate::cli::BenchArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use case::BenchCase;
use figures::{Figures, Row};

/// Runs the cases, prints the figures, and writes what was asked for.
///
/// # Errors
/// When there are no cases, a case is not as it should be, or a file cannot be written.
pub fn run(context: &Context, args: &BenchArgs) -> Ended {
    let cases = chosen(args)?;
    let baseline = args.baseline.as_deref().map(figures::read).transpose()?;
    let rows = all(context, args, cases)?;
    let figures = Figures::of(rows, args);
    let text = figures.markdown(baseline.as_ref());
    print(&text);
    let json = serde_json::to_string_pretty(&figures)
        .map_err(|error| CommandError::new("failed to write the figures").because(&error))?;
    write(args.json.as_deref(), &(json + "\n"))?;
    write(args.markdown.as_deref(), &text)?;
    write(args.sheet.as_deref(), &sheet::markdown(&figures.rows))?;
    let worse = baseline.is_some_and(|before| figures.is_worse_than(&before));
    Ok(if worse || figures.wrong() > 0 { exit_code::ERROR } else { exit_code::OK })
}

fn chosen(args: &BenchArgs) -> Result<Vec<BenchCase>, CommandError> {
    let mut cases = case::read_all(&args.cases)?;
    cases.retain(|case| {
        (args.only.is_empty() || args.only.iter().any(|word| case.name.contains(word)))
            && (args.kind.is_empty() || args.kind.contains(&case.kind))
    });
    if cases.is_empty() {
        return Err(CommandError::usage(format!("there are no such cases in {}", args.cases.display()))
            .hint("a case is a folder with case.toml, work/ and check.sh"));
    }
    Ok(cases)
}

/// Runs all cases, as many at once as asked for, and gives the rows in the order of the cases.
fn all(context: &Context, args: &BenchArgs, cases: Vec<BenchCase>) -> Result<Vec<Row>, CommandError> {
    let jobs =
        args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1);
    let queue: Mutex<VecDeque<(usize, BenchCase)>> = Mutex::new(cases.into_iter().enumerate().collect());
    let done: Mutex<Vec<(usize, Result<Row, CommandError>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((number, case)) = next(&queue) {
                    let row = trial::row(context, args, &case);
                    if let (Ok(row), false) = (&row, args.quiet) {
                        tell(&row.line());
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, row));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, row)| row).collect()
}

fn next<T>(queue: &Mutex<VecDeque<T>>) -> Option<T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

fn write(path: Option<&Path>, text: &str) -> Result<(), CommandError> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text)
        .map_err(|error| CommandError::new(format!("failed to write {}", path.display())).because(&error))
}
