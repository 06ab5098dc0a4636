//! The commands that a Python program starts through `subprocess`, where all of them can be read from its text: they are
//! judged as commands of a shell are, and not by the module alone.

use selfheal_syntax::python::{Call, Module};
use selfheal_syntax::tree::{Node, children};

use super::shell::ANYTHING;

/// Functions that start what their first argument names.
const STARTS: [&str; 5] = ["run", "call", "check_call", "check_output", "Popen"];
/// What else a program may use of the module without starting anything.
const HARMLESS: [&str; 8] = [
    "PIPE",
    "DEVNULL",
    "STDOUT",
    "CalledProcessError",
    "TimeoutExpired",
    "SubprocessError",
    "CompletedProcess",
    "list2cmdline",
];
/// How a program takes the module under its own name.
const IMPORT: &str = "import subprocess";
/// Bytes of a program that are parsed.
const LONGEST: usize = 128 * 1024;

/// A program, and what it starts.
pub struct Started {
    /// The program without its uses of the module; its lines are where they were.
    pub rest: String,
    /// The commands, each with its line.
    pub commands: Vec<(u32, Vec<String>)>,
}

impl Started {
    /// Reads a program; nothing where it does not use the module by its name, or where any use of it cannot be read.
    pub fn by(text: &str) -> Option<Self> {
        if !text.contains(IMPORT) || text.len() > LONGEST {
            return None;
        }
        let module = Module::parse(text).ok().filter(|module| !module.has_error())?;
        let calls: Vec<Call> =
            STARTS.iter().flat_map(|name| module.calls_of(&format!("subprocess.{name}"))).collect();
        let uses: Vec<&str> = module.nodes("attribute").iter().map(|node| module.text_of(*node)).collect();
        let known = |name: &str| STARTS.contains(&name) || HARMLESS.contains(&name);
        let of_module = uses.iter().filter_map(|text| text.strip_prefix("subprocess."));
        let (mut started, mut attributes) = (0, 0);
        for name in of_module {
            if !known(name) {
                return None;
            }
            attributes += 1;
            started += usize::from(STARTS.contains(&name));
        }
        // Besides those, only a plain import names the module: `import subprocess as s`, a line that imports more, and `f =
        // subprocess.run` start what is not seen here.
        let is_import = |line: &&str| line.split('#').next().is_some_and(|code| code.trim() == IMPORT);
        let imports = text.lines().filter(is_import).count();
        if started != calls.len() || text.matches("subprocess").count() != attributes + imports {
            return None;
        }
        let commands =
            calls.iter().map(|call| Some((call.line, words(&module, call)?))).collect::<Option<Vec<_>>>()?;
        let rest = text.replace("subprocess.Popen", "_").replace(IMPORT, "pass").replace("subprocess", "_");
        Some(Self { rest, commands })
    }
}

/// The words of the command that a call starts.
fn words(module: &Module, call: &Call) -> Option<Vec<String>> {
    let first = call.arguments.first().or_else(|| call.keyword("args"))?;
    let in_shell = call.keyword("shell").is_some_and(|value| value.text != "False");
    if let Some(text) = &first.string {
        return Some(if in_shell {
            vec!["sh".into(), "-c".into(), text.clone()]
        } else {
            vec![text.clone()]
        });
    }
    let lists = [module.nodes("list"), module.nodes("tuple")].concat();
    let list = lists.into_iter().find(|node| node.byte_range() == first.span)?;
    let elements = children(list).into_iter().filter(|node| node.is_named() && node.kind() != "comment");
    let words: Vec<String> = elements.map(|node| word(module, node)).collect();
    (!in_shell && words.first().is_some_and(|name| name != ANYTHING)).then_some(words)
}

/// A word as far as it is known: a text, or the known end of a path.
fn word(module: &Module, node: Node<'_>) -> String {
    if let Some(text) = module.string(node) {
        return text;
    }
    let text = module.text_of(node);
    if text == "sys.executable" {
        return "python3".to_owned();
    }
    let is_path = text.contains("path.join(")
        || node.kind() == "binary_operator" && text.contains('/')
        || text.starts_with("str(");
    let strings = selfheal_syntax::tree::descendants(node).into_iter().filter(|node| node.kind() == "string");
    let parts: Vec<String> = strings.filter_map(|node| module.string(node)).collect();
    if is_path && !parts.is_empty() { parts.join("/") } else { ANYTHING.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Option<Vec<String>> {
        let started = Started::by(text)?;
        assert!(!started.rest.contains("subprocess"));
        assert_eq!(started.rest.lines().count(), text.lines().count());
        Some(
            started
                .commands
                .into_iter()
                .map(|(line, words)| format!("{line}: {}", words.join(" ")))
                .collect(),
        )
    }

    #[test]
    fn commands_are_read_from_lists_and_lines() {
        let text = "import subprocess\nx = subprocess.run([\"curl\", \"-f\", url], stdout=subprocess.PIPE)\n\
                    subprocess.check_call('rm x', shell=True)\n\
                    subprocess.run([os.path.join(HERE, 'bin', 'get'), 'a'])\n\
                    subprocess.run([str(HERE / 'bin' / 'get')])\n\
                    subprocess.run([sys.executable, 'a.py'])\n";
        let read = commands(text).unwrap();
        assert_eq!(read.len(), 5);
        for line in ["2: curl -f ${}", "3: sh -c rm x", "4: bin/get a", "5: bin/get", "6: python3 a.py"] {
            assert!(read.contains(&line.to_owned()), "{line} {read:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_whole_is_not_read_at_all() {
        for text in [
            "import subprocess as s\ns.run(['a'])\n",
            "import subprocess, mine\nsubprocess.run(['a'])\n",
            "import subprocess32\nsubprocess32.run(['a'])\n",
            "from subprocess import run\nrun(['a'])\n",
            "import subprocess\nf = subprocess.run\nf(['a'])\n",
            "import subprocess\nsubprocess.run(command)\n",
            "import subprocess\nsubprocess.run([tool, 'a'])\n",
            "import subprocess\nsubprocess.run(['a'], shell=True)\n",
            "import subprocess\ngetattr(subprocess, 'run')(['a'])\n",
            "import subprocess\nsubprocess.getoutput('a')\n",
            "import os\nos.system('a')\n",
        ] {
            assert!(Started::by(text).is_none(), "{text}");
        }
    }
}
