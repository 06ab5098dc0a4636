//! The commands that a command starts itself: `xargs`, `find -exec`, `exec`, `command`.

/// Options of `xargs` whose value is a word of its own.
const XARGS_VALUED: [&str; 8] = ["-n", "-P", "-I", "-d", "-L", "-s", "-a", "-E"];

/// What a command starts; `None` where it is no command of that kind.
pub fn by(name: &str, arguments: &[String]) -> Option<Vec<Vec<String>>> {
    match name {
        "xargs" => Some(behind_options(arguments, &XARGS_VALUED)),
        "find" if !arguments.iter().any(|word| word == "-delete") => {
            let started = of_find(arguments);
            (!started.is_empty()).then_some(started)
        }
        "exec" | "command" | "builtin" => {
            let asks =
                name == "command" && arguments.first().is_some_and(|word| word == "-v" || word == "-V");
            let started = behind_options(arguments, &["-a"]);
            Some(if asks { Vec::new() } else { started })
        }
        _ => None,
    }
}

fn behind_options(arguments: &[String], valued: &[&str]) -> Vec<Vec<String>> {
    let mut at = 0;
    while let Some(word) = arguments.get(at).filter(|word| word.starts_with('-')) {
        at += if valued.contains(&word.as_str()) { 2 } else { 1 };
    }
    let words: Vec<String> = arguments.iter().skip(at).cloned().collect();
    let redirects =
        words.first().is_none_or(|word| word.starts_with(['<', '>']) || word.parse::<u32>().is_ok());
    if redirects { Vec::new() } else { vec![words] }
}

fn of_find(arguments: &[String]) -> Vec<Vec<String>> {
    let starts = |word: &String| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let begins = arguments.iter().enumerate().filter(|(_, word)| starts(word)).map(|(at, _)| at + 1);
    begins
        .map(|at| {
            let words =
                arguments.iter().skip(at).take_while(|word| !matches!(word.as_str(), ";" | "\\;" | "+"));
            words.cloned().collect()
        })
        .filter(|words: &Vec<String>| !words.is_empty())
        .collect()
}
