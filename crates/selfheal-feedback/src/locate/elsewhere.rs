//! Failures on other machines and in containers, told without a probe: the step of the script that runs a command there,
//! or the job itself. A file that is named there is never looked for here.

use selfheal_core::report::{FailedCommand, Location};

use super::{Place, base, is_of_system, is_own_failure, remote, resolve, run_by};
use crate::parsers::{Found, Spot};
use crate::report::ReportInput;
use crate::words::{commands, is_shell, logical_lines};

/// What counts most: the name that the message complains of stands in what is run there.
const BY_NAME: u32 = 3;
/// The tool that complains is run there.
const BY_TOOL: u32 = 2;

/// The place of a failure that happened elsewhere, if it did.
pub fn place(input: &ReportInput<'_>, found: Option<&Found>, said: Option<&Spot>) -> Option<Place> {
    let found = found.filter(|found| !is_own_failure(Some(found)))?;
    let argv: Vec<String> = input.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(host) = remote(&argv) {
        return Some(of_job(&argv, said, host));
    }
    // A place that is here is here.
    if said.is_some_and(|spot| input.scene.facts(&resolve(input, &spot.file)).is_some()) {
        return None;
    }
    of_step(input, found, said)
}

/// The job itself runs something elsewhere.
fn of_job(argv: &[String], said: Option<&Spot>, host: String) -> Place {
    let location = Location {
        file: said.map(|spot| spot.file.clone()).unwrap_or_default(),
        line: said.map_or(0, |spot| spot.line),
        column: said.and_then(|spot| spot.column),
        function: said.and_then(|spot| spot.function.clone()),
        remote: Some(host),
    };
    let command = FailedCommand { source: argv.join(" "), words: argv.to_vec(), status: None };
    Place { location: Some(location), command: Some(command), seen: false, guessed: false }
}

/// The step of the script whose remote command the message fits best.
fn of_step(input: &ReportInput<'_>, found: &Found, said: Option<&Spot>) -> Option<Place> {
    let (path, text) = input.script.filter(|(path, text)| is_shell(text) && !is_of_system(path))?;
    let mut hits: Vec<(u32, u32, String, String)> = Vec::new();
    for (number, line) in logical_lines(text) {
        for words in commands(&line) {
            let Some(host) = remote(&words) else { continue };
            let score = score(&words, found, said);
            if score > 0 {
                hits.push((score, number, host, line.trim().to_owned()));
            }
        }
    }
    let best = hits.iter().map(|(score, ..)| *score).max()?;
    hits.retain(|(score, ..)| *score == best);
    let [(score, number, host, source)] = hits.as_slice() else { return None };
    // A command here that says the same is the nearer one.
    if *score < BY_NAME && run_by(text, found).is_some() {
        return None;
    }
    let location = match said {
        Some(spot) => Location {
            file: spot.file.clone(),
            line: spot.line,
            column: spot.column,
            function: spot.function.clone(),
            remote: Some(host.clone()),
        },
        None => Location {
            file: path.to_path_buf(),
            line: *number,
            column: None,
            function: None,
            remote: Some(host.clone()),
        },
    };
    let command = FailedCommand { source: source.clone(), words: Vec::new(), status: None };
    Some(Place { location: Some(location), command: Some(command), seen: false, guessed: false })
}

/// How well what is run elsewhere fits a message.
fn score(words: &[String], found: &Found, said: Option<&Spot>) -> u32 {
    let inner: Vec<String> =
        words.iter().skip(1).flat_map(|word| commands(word).into_iter().flatten()).collect();
    let subject = found.fault.subject();
    let names = |name: &str| !name.is_empty() && inner.iter().any(|word| word == name);
    let by_name = subject.as_deref().is_some_and(names);
    let by_tool =
        found.tool.as_deref().is_some_and(|tool| inner.iter().any(|word| base(word).starts_with(tool)));
    let by_file = said.is_some_and(|spot| {
        let name = spot.file.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| inner.iter().any(|word| base(word) == name))
    });
    u32::from(by_name || by_file) * BY_NAME + u32::from(by_tool) * BY_TOOL
}
