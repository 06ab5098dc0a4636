//! # A name that Python's standard library no longer has
//!
//! ## What it finds
//! A Python program imports or uses a module or name that newer versions removed or moved: `collections.Mapping`,
//! `time.clock`, `base64.decodestring`, `ConfigParser`, `inspect.getargspec`, …; or a form that they no longer accept: the
//! mode `"rU"`, flags inside of a pattern, `plistlib.readPlist`.
//!
//! ## Why it fails
//! The standard library drops names some versions after it gave them a new place. The machine's Python was updated.
//!
//! ## Fix
//! The name is replaced by the one that has the same meaning, with its import. All such names of the program are mended at
//! once.
//!
//! ## Example
//! ```python
//! from collections import Mapping, OrderedDict
//! started = time.clock()
//! ```
//! ```python
//! from collections import OrderedDict
//! from collections.abc import Mapping
//! started = time.perf_counter()
//! ```
//!
//! ## Safety
//! Only names from a table of replacements that do the same, taken from the "What's New" pages of Python 3.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Import, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::old_forms;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(PythonRemovedName, "python_removed_name", Safe, propose);

/// Names that moved: old module, old name, new module (empty for built-ins), new name.
const NAMES: &[(&str, &str, &str, &str)] = &[
    ("time", "clock", "time", "perf_counter"),
    ("base64", "decodestring", "base64", "decodebytes"),
    ("base64", "encodestring", "base64", "encodebytes"),
    ("inspect", "getargspec", "inspect", "getfullargspec"),
    ("cgi", "escape", "html", "escape"),
    ("fractions", "gcd", "math", "gcd"),
    ("os", "getcwdu", "os", "getcwd"),
    ("os", "errno", "", "errno"),
    ("string", "letters", "string", "ascii_letters"),
    ("string", "lowercase", "string", "ascii_lowercase"),
    ("string", "uppercase", "string", "ascii_uppercase"),
    ("string", "maketrans", "", "str.maketrans"),
    ("string", "strip", "", "str.strip"),
    ("string", "lstrip", "", "str.lstrip"),
    ("string", "rstrip", "", "str.rstrip"),
    ("string", "upper", "", "str.upper"),
    ("string", "lower", "", "str.lower"),
    ("string", "split", "", "str.split"),
    ("string", "replace", "", "str.replace"),
    ("string", "find", "", "str.find"),
    ("string", "zfill", "", "str.zfill"),
    ("string", "atoi", "", "int"),
    ("string", "atof", "", "float"),
    ("sys", "maxint", "sys", "maxsize"),
    ("itertools", "izip", "", "zip"),
    ("itertools", "imap", "", "map"),
    ("itertools", "ifilter", "", "filter"),
    ("itertools", "izip_longest", "itertools", "zip_longest"),
    ("itertools", "ifilterfalse", "itertools", "filterfalse"),
    ("types", "StringType", "", "str"),
    ("types", "IntType", "", "int"),
    ("types", "ListType", "", "list"),
    ("types", "DictType", "", "dict"),
    ("types", "StringTypes", "", "str"),
    ("types", "UnicodeType", "", "str"),
    ("types", "LongType", "", "int"),
    ("types", "FloatType", "", "float"),
    ("types", "TupleType", "", "tuple"),
    ("types", "BooleanType", "", "bool"),
    ("operator", "isCallable", "", "callable"),
    ("configparser", "SafeConfigParser", "configparser", "ConfigParser"),
    ("ConfigParser", "SafeConfigParser", "configparser", "ConfigParser"),
    ("md5", "new", "hashlib", "md5"),
    ("md5", "md5", "hashlib", "md5"),
    ("sha", "new", "hashlib", "sha1"),
    ("sha", "sha", "hashlib", "sha1"),
    ("sets", "Set", "", "set"),
    ("locale", "format", "locale", "format_string"),
    ("pipes", "quote", "shlex", "quote"),
    ("urllib", "quote", "urllib.parse", "quote"),
    ("urllib", "quote_plus", "urllib.parse", "quote_plus"),
    ("urllib", "unquote", "urllib.parse", "unquote"),
    ("urllib", "urlencode", "urllib.parse", "urlencode"),
    ("urllib", "urlopen", "urllib.request", "urlopen"),
    ("urllib", "urlretrieve", "urllib.request", "urlretrieve"),
    ("urllib2", "urlopen", "urllib.request", "urlopen"),
    ("urllib2", "Request", "urllib.request", "Request"),
    ("urllib2", "build_opener", "urllib.request", "build_opener"),
    ("urllib2", "HTTPError", "urllib.error", "HTTPError"),
    ("urllib2", "URLError", "urllib.error", "URLError"),
    ("urllib2", "quote", "urllib.parse", "quote"),
    ("distutils.spawn", "find_executable", "shutil", "which"),
    ("distutils.file_util", "copy_file", "shutil", "copy"),
    ("distutils.file_util", "move_file", "shutil", "move"),
    ("distutils.dir_util", "remove_tree", "shutil", "rmtree"),
    ("imp", "reload", "importlib", "reload"),
    ("commands", "getoutput", "subprocess", "getoutput"),
    ("commands", "getstatusoutput", "subprocess", "getstatusoutput"),
    ("asyncio", "async", "asyncio", "ensure_future"),
    ("platform", "dist", "platform", "freedesktop_os_release"),
    ("unittest", "makeSuite", "unittest", "defaultTestLoader.loadTestsFromTestCase"),
    ("numpy", "int", "", "int"),
    ("numpy", "float", "", "float"),
    ("numpy", "bool", "", "bool"),
    ("numpy", "object", "", "object"),
    ("numpy", "str", "", "str"),
    ("xml.etree", "cElementTree", "xml.etree", "ElementTree"),
    ("logging", "warn", "logging", "warning"),
];

/// The abstract base classes, which moved from `collections` to `collections.abc` (removed in 3.10).
const ABCS: &[&str] = &[
    "Awaitable",
    "Coroutine",
    "AsyncIterable",
    "AsyncIterator",
    "AsyncGenerator",
    "Hashable",
    "Iterable",
    "Iterator",
    "Generator",
    "Reversible",
    "Sized",
    "Container",
    "Callable",
    "Collection",
    "Set",
    "MutableSet",
    "Mapping",
    "MutableMapping",
    "MappingView",
    "KeysView",
    "ItemsView",
    "ValuesView",
    "Sequence",
    "MutableSequence",
    "ByteString",
];

/// Modules that were renamed and kept their names inside.
const MODULES: &[(&str, &str)] = &[
    ("ConfigParser", "configparser"),
    ("Queue", "queue"),
    ("cPickle", "pickle"),
    ("StringIO", "io"),
    ("cStringIO", "io"),
    ("HTMLParser", "html.parser"),
    ("httplib", "http.client"),
    ("Cookie", "http.cookies"),
    ("cookielib", "http.cookiejar"),
    ("copy_reg", "copyreg"),
    ("__builtin__", "builtins"),
    ("SocketServer", "socketserver"),
    ("SimpleHTTPServer", "http.server"),
    ("BaseHTTPServer", "http.server"),
    ("xmlrpclib", "xmlrpc.client"),
    ("SimpleXMLRPCServer", "xmlrpc.server"),
    ("Tkinter", "tkinter"),
    ("thread", "_thread"),
    ("urlparse", "urllib.parse"),
    ("anydbm", "dbm"),
    ("whichdb", "dbm"),
    ("repr", "reprlib"),
    ("htmlentitydefs", "html.entities"),
    ("robotparser", "urllib.robotparser"),
    ("DocXMLRPCServer", "xmlrpc.server"),
    ("CGIHTTPServer", "http.server"),
    ("gdbm", "dbm.gnu"),
    ("dumbdbm", "dbm.dumb"),
    ("UserDict", "collections"),
    ("UserList", "collections"),
    ("xml.etree.cElementTree", "xml.etree.ElementTree"),
    ("collections.Mapping", "collections.abc"),
];

/// Methods that got another name, whatever the object.
const METHODS: &[(&str, &str)] = &[
    ("tostring", "tobytes"),
    ("fromstring", "frombytes"),
    ("isAlive", "is_alive"),
    ("getiterator", "iter"),
    ("assertEquals", "assertEqual"),
    ("assertNotEquals", "assertNotEqual"),
    ("assertItemsEqual", "assertCountEqual"),
    ("assertRegexpMatches", "assertRegex"),
    ("assertRaisesRegexp", "assertRaisesRegex"),
    ("assertNotRegexpMatches", "assertNotRegex"),
    ("assertAlmostEquals", "assertAlmostEqual"),
    ("assertNotAlmostEquals", "assertNotAlmostEqual"),
    ("assert_", "assertTrue"),
    ("failUnless", "assertTrue"),
    ("failUnlessEqual", "assertEqual"),
    ("failIf", "assertFalse"),
    ("readfp", "read_file"),
    ("warn", "warning"),
];

/// Methods that no object of today's standard library has, so that they can be mended before they fail.
const GONE_METHODS: &[&str] =
    &["xreadlines", "isAlive", "readfp", "assertEquals", "assertNotEquals", "getiterator"];

fn propose(case: &Case) -> Vec<Candidate> {
    let Some((owner, name)) = case.faults().find_map(wanted) else { return Vec::new() };
    let mut parts_by_file = Vec::new();
    for (file, module) in python::modules(case) {
        let mut mended =
            Mended { module: &module, parts: Vec::new(), imports: Vec::new(), notes: Vec::new() };
        mended.imports_of_names();
        mended.imports_of_modules();
        mended.attributes();
        mended.call_forms();
        if let Some(name) = &name {
            mended.methods(name);
        }
        for gone in GONE_METHODS.iter().filter(|gone| name.as_deref() != Some(**gone)) {
            mended.methods(gone);
        }
        mended.array_methods(name.as_deref());
        if !mended.notes.is_empty() {
            let Mended { mut parts, imports, notes, .. } = mended;
            parts.extend(imports.iter().filter_map(|name| python::import(&module, name)));
            parts_by_file.push((file, parts, notes));
        }
    }
    let said = name.clone().map_or(owner.clone(), |name| format!("{owner}.{name}"));
    let mut draft = Draft::new(
        "python_removed_name",
        format!(
            "{said} is no longer part of Python; it was removed after its replacement had been there for years"
        ),
        "use the names that replaced the removed ones",
    );
    let last = said.rsplit('.').next().unwrap_or_default().to_owned();
    let mut hit = false;
    for (file, parts, notes) in parts_by_file {
        let form = last.contains(' ') && notes.iter().any(|note| note.contains(&said));
        hit = hit || form || notes.iter().any(|note| note.contains(&last));
        draft = draft.rewrite(&file, splice(&file.text, parts), notes.join("; "));
    }
    if hit { draft.done().into_iter().collect() } else { Vec::new() }
}

/// A program with all names of the table mended; `None` when it has none.
pub(super) fn mended(module: &Module) -> Option<String> {
    let mut mended = Mended { module, parts: Vec::new(), imports: Vec::new(), notes: Vec::new() };
    mended.imports_of_names();
    mended.imports_of_modules();
    mended.attributes();
    mended.call_forms();
    if mended.notes.is_empty() {
        return None;
    }
    let Mended { mut parts, imports, .. } = mended;
    parts.extend(imports.iter().filter_map(|name| python::import(module, name)));
    Some(splice(module.text(), parts))
}

/// Module and name of a fault of this kind.
fn wanted(fault: &Fault) -> Option<(String, Option<String>)> {
    match fault {
        Fault::MissingName { owner, name } => Some((owner.clone(), Some(name.clone()))),
        Fault::MissingModule { name } => Some((name.clone(), None)),
        Fault::BadValue { message, .. } if message.contains("invalid mode") => {
            Some(("the mode U".into(), None))
        }
        Fault::Other { message } | Fault::BadValue { message, .. } | Fault::WrongType { message }
            if message.contains("unexpected keyword argument '") =>
        {
            let name = message.split_once("keyword argument '")?.1.split('\'').next()?;
            Some((format!("the argument {name}"), None))
        }
        Fault::Other { message } | Fault::BadValue { message, .. }
            if message.contains("global flags not at the start") =>
        {
            Some(("the flag inside of a pattern".into(), None))
        }
        _ => None,
    }
}

fn replacement(module: &str, name: &str) -> Option<(&'static str, &'static str)> {
    if module == "collections" {
        return ABCS.iter().find(|abc| **abc == name).map(|abc| ("collections.abc", *abc));
    }
    let moved = NAMES.iter().find(|(old, old_name, ..)| *old == module && *old_name == name);
    moved.map(|(_, _, new, new_name)| (*new, *new_name))
}

struct Mended<'m> {
    module: &'m Module,
    parts: Vec<Part>,
    imports: Vec<&'static str>,
    notes: Vec<String>,
}

impl Mended<'_> {
    /// `from collections import Mapping`.
    fn imports_of_names(&mut self) {
        let imports = self.module.imports();
        let mut done: Vec<usize> = Vec::new();
        for import in &imports {
            if done.contains(&import.statement.start) {
                continue;
            }
            let all: Vec<&Import> =
                imports.iter().filter(|other| other.statement == import.statement).collect();
            let moved: Vec<(&Import, (&str, &str))> = all
                .iter()
                .filter_map(|one| Some((*one, replacement(&one.module, one.name.as_deref()?)?)))
                .collect();
            if moved.is_empty() {
                continue;
            }
            done.push(import.statement.start);
            self.split_import(import, &all, &moved);
        }
    }

    fn split_import(&mut self, import: &Import, all: &[&Import], moved: &[(&Import, (&str, &str))]) {
        let text = self.module.text();
        let shown = |one: &Import| text.get(one.span.clone()).unwrap_or_default().to_owned();
        let kept: Vec<String> = all
            .iter()
            .filter(|one| !moved.iter().any(|(other, _)| other.span == one.span))
            .map(|one| shown(one))
            .collect();
        let mut lines: Vec<String> = Vec::new();
        if !kept.is_empty() {
            lines.push(format!("from {} import {}", import.module, kept.join(", ")));
        }
        for (one, (new, new_name)) in moved {
            let bound = one.binds();
            let last = new_name.rsplit('.').next().unwrap_or(new_name);
            let line = match (new.is_empty(), last == bound) {
                // A built-in, or one of its attributes, under the same name.
                (true, true) if !new_name.contains('.') && *new_name != "errno" => String::new(),
                (true, _) if *new_name == "errno" => "import errno".to_owned(),
                (true, _) => format!("{bound} = {new_name}"),
                (false, true) => format!("from {new} import {new_name}"),
                (false, false) => format!("from {new} import {new_name} as {bound}"),
            };
            self.notes.push(format!(
                "{} comes from {}",
                one.name.clone().unwrap_or_default(),
                if new.is_empty() { "Python itself" } else { new }
            ));
            match lines
                .iter_mut()
                .find(|known| !new.is_empty() && known.starts_with(&format!("from {new} import ")))
            {
                Some(known) => {
                    known.push_str(&format!(", {}", line.rsplit(" import ").next().unwrap_or_default()))
                }
                None if !line.is_empty() => lines.push(line),
                None => {}
            }
        }
        let start = python::line_start(text, import.statement.start);
        let indent = text.get(start..import.statement.start).unwrap_or_default();
        self.parts.push((import.statement.clone(), lines.join(&format!("\n{indent}"))));
    }

    /// `import ConfigParser`, `from StringIO import StringIO`.
    fn imports_of_modules(&mut self) {
        for import in self.module.imports() {
            let Some((old, new)) = MODULES.iter().find(|(old, _)| *old == import.module) else { continue };
            let statement = self.module.text().get(import.statement.clone()).unwrap_or_default();
            self.notes.push(format!("{old} is {new}"));
            if import.name.is_some() {
                let at = import.statement.start + statement.find(old).unwrap_or(0);
                let known = self.parts.iter().any(|(span, _)| span.start <= at && at < span.end);
                if !known {
                    self.parts.push((at..at + old.len(), (*new).to_owned()));
                }
            } else {
                let bound = import.alias.clone().unwrap_or_else(|| (*old).to_owned());
                let bound = bound.rsplit('.').next().unwrap_or_default();
                self.parts.push((
                    import.span,
                    if *new == bound { (*new).to_owned() } else { format!("{new} as {bound}") },
                ));
            }
        }
    }

    /// `time.clock()`.
    fn attributes(&mut self) {
        let abcs = ABCS.iter().map(|name| ("collections", *name, "collections.abc", *name));
        for (old, name, new, new_name) in NAMES.iter().copied().chain(abcs) {
            let spans = self.module.find_attribute(old, name);
            let spans: Vec<_> = spans.into_iter().filter(|span| self.is_dotted(span)).collect();
            if spans.is_empty() {
                continue;
            }
            if new.is_empty() && new_name == "errno" {
                self.imports.push("errno");
            } else if !new.is_empty() && new != old {
                self.imports.push(new);
            }
            self.notes.push(format!(
                "{old}.{name} is {}",
                [new, new_name].iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join(".")
            ));
            for span in spans {
                let source = self.module.text().get(span.clone()).unwrap_or_default();
                let base = source.rsplit_once('.').map_or("", |(base, _)| base);
                let text = match new {
                    "" => new_name.to_owned(),
                    same if same == old => format!("{base}.{new_name}"),
                    other => format!("{other}.{new_name}"),
                };
                self.parts.push((span, text));
            }
        }
        self.lone_imports();
    }

    /// Calls whose form changed with their name.
    fn call_forms(&mut self) {
        let (parts, imports) = old_forms::parts(self.module);
        for (span, text, note) in parts {
            // What was mended as a name before gets the form as a whole.
            self.parts.retain(|(known, _)| !(span.start <= known.start && known.end <= span.end));
            self.notes.push(note);
            self.parts.push((span, text));
        }
        self.imports.extend(imports);
    }

    /// `array.tostring()`: the method's name means other things elsewhere, so only the objects of `array` are mended early.
    fn array_methods(&mut self, failed: Option<&str>) {
        let imports = self.module.imports();
        let arrays = imports.iter().any(|import| import.module == "array");
        if !arrays || failed == Some("tostring") {
            return;
        }
        for call in self.module.calls_of(".tostring").into_iter().filter(|call| call.arguments.is_empty()) {
            let end = call.span.start + call.callee.len();
            let name = end - "tostring".len()..end;
            if self.module.text().get(name.clone()) == Some("tostring") {
                self.notes.push("tostring is tobytes".to_owned());
                self.parts.push((name, "tobytes".to_owned()));
            }
        }
    }

    /// Modules that are gone and of which nothing is used any more: their imports go.
    fn lone_imports(&mut self) {
        const GONE: &[&str] = &[
            "urllib2",
            "commands",
            "cgi",
            "md5",
            "sha",
            "sets",
            "imp",
            "pipes",
            "distutils.spawn",
            "distutils.file_util",
            "distutils.dir_util",
        ];
        for import in
            self.module.imports().iter().filter(|i| i.name.is_none() && GONE.contains(&i.module.as_str()))
        {
            let uses = self.module.find_name(import.binds());
            let mended = |at: usize| self.parts.iter().any(|(span, _)| span.start <= at && at < span.end);
            let alone =
                self.module.imports().iter().filter(|other| other.statement == import.statement).count() == 1;
            let outside = uses
                .iter()
                .filter(|span| !(import.statement.start <= span.start && span.end <= import.statement.end));
            if alone && outside.clone().count() > 0 && outside.clone().all(|span| mended(span.start)) {
                let end = python::next_line(self.module.text(), import.statement.end);
                let start = python::line_start(self.module.text(), import.statement.start);
                self.parts.push((start..end, String::new()));
            }
        }
    }

    fn is_dotted(&self, span: &std::ops::Range<usize>) -> bool {
        self.module.text().get(span.clone()).is_some_and(|source| source.contains('.'))
            && !self
                .module
                .imports()
                .iter()
                .any(|i| i.statement.start <= span.start && span.end <= i.statement.end)
    }

    /// `thread.isAlive()`: only the method that failed.
    fn methods(&mut self, name: &str) {
        if name == "xreadlines" {
            // A file gives its lines by itself.
            for call in self.module.calls_of(".xreadlines") {
                let end = call.span.end;
                self.notes.push("xreadlines is the file itself".to_owned());
                self.parts.push((end - ".xreadlines()".len()..end, String::new()));
            }
        }
        if name == "getchildren" {
            for call in self.module.calls_of(".getchildren") {
                let object = call.callee.trim_end_matches(".getchildren");
                self.notes.push("getchildren() is list()".to_owned());
                self.parts.push((call.span, format!("list({object})")));
            }
        }
        let Some((old, new)) = METHODS.iter().find(|(old, _)| *old == name) else { return };
        for node in self.module.nodes("attribute") {
            let Some(attribute) = node.child_by_field_name("attribute") else { continue };
            if self.module.text_of(attribute) == *old {
                self.notes.push(format!("{old} is {new}"));
                self.parts.push((attribute.byte_range(), (*new).to_owned()));
            }
        }
        self.notes.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, fault: Fault) -> TestCase {
        TestCase::new("x.py", text, TestScene::new()).fault(fault).at(1)
    }

    fn name(owner: &str, name: &str) -> Fault {
        Fault::MissingName { owner: owner.into(), name: name.into() }
    }

    #[test]
    fn mends_all_removed_names_at_once() {
        let text = "import base64\nimport time\nfrom collections import Mapping, OrderedDict\n\n\
            x = base64.decodestring(b'')\nt = time.clock()\nprint(isinstance({}, Mapping), 'time.clock')\n";
        let healed = case(text, name("collections", "Mapping")).healed(&PythonRemovedName);
        assert_eq!(
            healed,
            "import base64\nimport time\nfrom collections import OrderedDict\nfrom collections.abc import Mapping\n\n\
             x = base64.decodebytes(b'')\nt = time.perf_counter()\nprint(isinstance({}, Mapping), 'time.clock')\n"
        );
    }

    #[test]
    fn drops_arguments_that_did_nothing() {
        let text = "import json\nd = json.loads(open('a').read(), encoding=\"utf-8\")\n";
        let fault = || Fault::WrongType {
            message: "TypeError: JSONDecoder.__init__() got an unexpected keyword argument 'encoding'".into(),
        };
        assert_eq!(
            case(text, fault()).healed(&PythonRemovedName),
            "import json\nd = json.loads(open('a').read())\n"
        );
        let latin = text.replace("utf-8", "latin-1");
        assert!(case(&latin, fault()).silent(&PythonRemovedName));
        assert!(case("def f(a):\n    pass\nf(encoding='utf-8')\n", fault()).silent(&PythonRemovedName));
    }

    #[test]
    fn mends_renamed_modules_and_moved_names() {
        let text = "import ConfigParser\nimport urllib2\nimport collections\nr = urllib2.urlopen(u)\nc = ConfigParser.ConfigParser()\nm = collections.Mapping\n";
        let healed =
            case(text, Fault::MissingModule { name: "ConfigParser".into() }).healed(&PythonRemovedName);
        assert!(healed.contains("import configparser as ConfigParser\n"), "{healed}");
        assert!(
            healed.contains("r = urllib.request.urlopen(u)\n") && healed.contains("import urllib.request\n"),
            "{healed}"
        );
        assert!(!healed.contains("urllib2") && healed.contains("m = collections.abc.Mapping"), "{healed}");
    }

    #[test]
    fn mends_methods_that_failed() {
        let healed = case(
            "for c in root.getchildren():\n    x(c)\n",
            name("xml.etree.ElementTree.Element", "getchildren"),
        );
        assert_eq!(healed.healed(&PythonRemovedName), "for c in list(root):\n    x(c)\n");
        let healed = case("a.tostring()\n", name("array.array", "tostring"));
        assert_eq!(healed.healed(&PythonRemovedName), "a.tobytes()\n");
    }

    #[test]
    fn keeps_what_escape_did_to_quotes() {
        let text = "import cgi\nx = cgi.escape(name)\ny = cgi.escape(a[0], True)\n";
        assert_eq!(
            case(text, Fault::MissingModule { name: "cgi".into() }).healed(&PythonRemovedName),
            "import html\nx = html.escape(name, quote=False)\n\
             y = html.escape(a[0], quote=False).replace('\"', \"&quot;\")\n"
        );
        let text = "from cgi import escape\nx = escape(name)\n";
        assert_eq!(
            case(text, name("cgi", "escape")).healed(&PythonRemovedName),
            "from html import escape\nx = escape(name, quote=False)\n"
        );
    }

    #[test]
    fn mends_old_forms_together_with_names() {
        let text = "import plistlib\nimport re\nimport time\nW = re.compile(\"a(?i)\")\nP = re.compile(r'x|(?im)y')\nt = time.clock()\n\
            f = open(p, \"rU\")\ns = plistlib.readPlist(p)\nif thread.isAlive():\n    pass\n";
        let healed = case(text, Fault::BadValue { value: None, message: "invalid mode: 'rU'".into() })
            .healed(&PythonRemovedName);
        for part in [
            "re.compile(\"(?i)a\")",
            "re.compile(r'(?im)x|y')",
            "time.perf_counter()",
            "open(p, \"r\")",
            "plistlib.loads(pathlib.Path(p).read_bytes())",
            "import pathlib\n",
            "thread.is_alive()",
        ] {
            assert!(healed.contains(part), "{part} in {healed}");
        }
    }

    #[test]
    fn keeps_the_number_of_values_and_finds_moved_methods() {
        let text = "import inspect\nfrom HTMLParser import HTMLParser\na, b, c, d = inspect.getargspec(f)\ns = inspect.getargspec(f)\nx = HTMLParser().unescape(t)\n";
        let healed =
            case(text, Fault::MissingModule { name: "HTMLParser".into() }).healed(&PythonRemovedName);
        assert!(
            healed.contains("d = inspect.getfullargspec(f)[:4]\ns = inspect.getfullargspec(f)\n"),
            "{healed}"
        );
        assert!(healed.contains("x = html.unescape(t)\n") && healed.contains("import html\n"), "{healed}");
    }

    #[test]
    fn leaves_other_modes_and_patterns_alone() {
        let text = "import re\nopen(p, 'rb')\nre.compile('(?i)a')\nre.compile('a(?i:b)')\n";
        let fault = Fault::BadValue { value: None, message: "invalid mode: 'q'".into() };
        assert!(case(text, fault).silent(&PythonRemovedName));
    }

    #[test]
    fn leaves_unknown_names_alone() {
        assert!(case("import foo\nfoo.bar()\n", name("foo", "bar")).silent(&PythonRemovedName));
        assert!(
            case("import requests\n", Fault::MissingModule { name: "requests".into() })
                .silent(&PythonRemovedName)
        );
    }
}
