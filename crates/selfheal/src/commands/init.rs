//! `selfheal init`: asks, then writes a commented settings file and offers the timer.

use std::io::{BufRead, Write};
use std::path::Path;

use super::{Ended, print};
use crate::cli::InitArgs;
use crate::command_error::CommandError;
use crate::config::{DEFAULT_TOML, Options};
use crate::context::Context;
use crate::exit_code;
use crate::texts::Texts;

/// The answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Answers {
    low: bool,
    medium: bool,
    model: Option<(String, String)>,
    notify: Option<String>,
    timer: bool,
}

/// Asks and writes. An existing file is never overwritten.
///
/// # Errors
/// When there is a settings file already, nobody can be asked, or it cannot be written.
pub fn run(context: &Context, args: &InitArgs) -> Ended {
    let file = args.file.clone().unwrap_or_else(|| context.own_settings_file());
    if file.exists() {
        return Err(CommandError::new(format!("{} exists already", file.display()))
            .hint("edit it, or move it away first"));
    }
    let texts = context.texts();
    let answers = if args.yes {
        Answers { low: true, ..Answers::default() }
    } else if context.terminal.input {
        ask(&texts)
    } else {
        return Err(CommandError::usage("there is no terminal to ask on")
            .hint("selfheal init --yes takes the suggested answers"));
    };
    let text = filled(&answers)?;
    write(&file, &text)?;
    print(&format!("{}\n", texts.say("init-written", &[("file", &file.display().to_string())])));
    if answers.timer {
        crate::timer::install(&context.program, context.uid)?;
        print(&format!("{}\n", texts.say("init-timer", &[])));
    }
    Ok(exit_code::OK)
}

fn ask(texts: &Texts) -> Answers {
    let low = yes(texts, "ask-policy-low", true);
    let medium = low && yes(texts, "ask-policy-medium", false);
    let url = line(texts, "ask-model");
    let model = (!url.is_empty()).then(|| (url, line(texts, "ask-model-name")));
    let notify = Some(line(texts, "ask-notify")).filter(|program| !program.is_empty());
    Answers { low, medium, model, notify, timer: yes(texts, "ask-timer", false) }
}

fn yes(texts: &Texts, id: &str, usual: bool) -> bool {
    match line(texts, id).to_lowercase().as_str() {
        "" => usual,
        answer => matches!(answer, "y" | "yes" | "j" | "ja" | "是"),
    }
}

fn line(texts: &Texts, id: &str) -> String {
    let mut error = std::io::stderr();
    let _ = write!(error, "{} ", texts.say(id, &[])).and_then(|()| error.flush());
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    answer.trim().to_owned()
}

/// The commented template with the answers in it; parsed once more, so that what is written can be read.
fn filled(answers: &Answers) -> Result<String, CommandError> {
    let word = |apply| if apply { "apply" } else { "park" };
    let mut text = DEFAULT_TOML
        .replacen("low = \"apply\"", &format!("low = \"{}\"", word(answers.low)), 1)
        .replacen("medium = \"park\"", &format!("medium = \"{}\"", word(answers.medium)), 1);
    if let Some((url, name)) = &answers.model {
        text = text
            .replacen("#[model]", "[model]", 1)
            .replacen(
                "#name = \"openai:qwen2.5-coder-1.5b\"",
                &format!("name = {}", quoted(&format!("openai:{name}"))),
                1,
            )
            .replacen("#url = \"http://127.0.0.1:8115/v1\"", &format!("url = {}", quoted(url)), 1);
    }
    if let Some(program) = &answers.notify {
        text = text.replacen("#[notify]", "[notify]", 1).replacen(
            "#program = [\"/usr/local/bin/tell-oncall\"]",
            &format!("program = [{}]", quoted(program)),
            1,
        );
    }
    Options::parse(&text, &mut Vec::new())
        .map_err(|error| CommandError::new(format!("the answers do not make a settings file: {error}")))?;
    Ok(text)
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .flat_map(|c| match c {
            '"' | '\\' => vec!['\\', c],
            c if c.is_control() => Vec::new(),
            c => vec![c],
        })
        .collect();
    format!("\"{escaped}\"")
}

fn write(file: &Path, text: &str) -> Result<(), CommandError> {
    let fail = |error: std::io::Error| {
        CommandError::new(format!("failed to write {}", file.display())).because(&error)
    };
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(file)
        .and_then(|mut target| target.write_all(text.as_bytes()))
        .map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_end_up_in_the_file_and_the_comments_stay() {
        let answers = Answers {
            low: true,
            medium: true,
            model: Some(("http://127.0.0.1:1/v1".into(), "a\"b".into())),
            notify: Some("/bin/tell".into()),
            timer: false,
        };
        let text = filled(&answers).unwrap();
        let options = Options::parse(&text, &mut Vec::new()).unwrap();
        assert_eq!(options.policy.unwrap().medium, Some(selfheal_core::settings::Answer::Apply));
        assert_eq!(options.model.unwrap().name.unwrap(), "openai:a\"b");
        assert_eq!(options.notify.unwrap().program.unwrap(), ["/bin/tell"]);
        assert!(text.contains("# A repair of high risk is never applied"));
    }
}
