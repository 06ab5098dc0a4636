//! What every command needs: who runs it, where its state is, what it may do, how it speaks. The only place that reads
//! the environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use selfheal_core::redact::Redactor;
use selfheal_store::{Anchor, Places, Store, StoreOptions};

use crate::clock::SystemClock;
use crate::command_error::CommandError;
use crate::config::{ModelProvider, ModelSettings, Origin, Settings, provider_of, read_layers, resolve};
use crate::texts::{Language, Texts};
use crate::traffic::Traffic;

/// What every command needs.
#[derive(Clone)]
pub struct Context {
    /// The program itself, to be started again for supervision and boxes.
    pub program: PathBuf,
    /// The environment.
    pub env: BTreeMap<OsString, OsString>,
    /// The folder that it was started in; `.` where that has no path (any more).
    pub cwd: PathBuf,
    /// The user's number.
    pub uid: u32,
    /// The root of the state.
    pub state: PathBuf,
    /// The resolved settings.
    pub settings: Settings,
    /// What was wrong with settings files, a sentence each.
    pub warnings: Vec<String>,
    /// The terminal.
    pub terminal: Terminal,
    /// The clock.
    pub clock: SystemClock,
    /// Where model traffic is written to, or comes from.
    pub traffic: Traffic,
    redactor: OnceLock<Redactor>,
}

/// What kind of terminal there is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Standard input is one.
    pub input: bool,
    /// Standard output is one.
    pub output: bool,
    /// Standard error is one.
    pub error: bool,
    /// Colours are wanted on standard error.
    pub colour: bool,
    /// The width of standard error in columns.
    pub width: usize,
}

impl Context {
    /// Looks at the process and its environment, and reads the settings.
    #[must_use]
    pub fn from_process() -> Self {
        let env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from(LOST));
        // The owner of a process's own folder in /proc is its effective user.
        let uid = std::fs::metadata("/proc/self").map_or(u32::MAX, |facts| facts.uid());
        let var = |name: &str| env.get(OsStr::new(name)).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = var("SELFHEAL_STATE_DIR").unwrap_or_else(|| {
            Store::default_root(&Places {
                state_directory: env.get(OsStr::new("STATE_DIRECTORY")).cloned(),
                xdg_state_home: env.get(OsStr::new("XDG_STATE_HOME")).cloned(),
                home: env.get(OsStr::new("HOME")).cloned(),
                uid,
            })
        });
        let (layers, mut warnings) = read_layers(&settings_files(&var, &cwd, uid), uid);
        let settings = resolve(&layers);
        warnings.extend(crate::anchor::wrong_words(&settings.store));
        let terminal = Terminal::of_process(&env);
        let program = PathBuf::from("/proc/self/exe");
        let program = std::fs::read_link(&program).unwrap_or(program);
        Self {
            program,
            env,
            cwd,
            uid,
            state,
            settings,
            warnings,
            terminal,
            clock: SystemClock,
            traffic: Traffic::default(),
            redactor: OnceLock::new(),
        }
    }

    /// The same with a model that was given on the command line.
    ///
    /// # Errors
    /// When the provider is not known, or there is no URL for it.
    pub fn with_model(&self, name: Option<&str>, url: Option<&str>) -> Result<Self, CommandError> {
        let mut context = self.clone();
        let Some(full) = name else {
            return match (url, &mut context.settings.model) {
                (None, _) => Ok(context),
                (Some(url), Some(model)) => {
                    url.clone_into(&mut model.url);
                    Ok(context)
                }
                (Some(_), None) => {
                    Err(CommandError::usage("--model-url needs a model").hint("add --model openai:NAME"))
                }
            };
        };
        if cfg!(not(feature = "model")) {
            return Err(CommandError::usage("this selfheal was built without model support")
                .hint("build it with the feature `model`"));
        }
        let Some((provider, name, usual)) = provider_of(full) else {
            return Err(CommandError::usage(format!("{full}: not a model"))
                .hint("--model openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME or llama:FILE"));
        };
        let known = context.settings.model.take();
        let given = url.map(str::to_owned).or_else(|| Some(usual.to_owned()).filter(|url| !url.is_empty()));
        let Some(url) = given
            .or_else(|| known.as_ref().map(|model| model.url.clone()))
            .or_else(|| (provider == ModelProvider::Llama).then(String::new))
        else {
            return Err(CommandError::usage("the model has no server").hint("add --model-url URL"));
        };
        let known = known.unwrap_or_default();
        context.settings.model =
            Some(ModelSettings { provider, name: name.to_owned(), url, larger: Vec::new(), ..known });
        Ok(context)
    }

    /// The texts in the caller's language.
    #[must_use]
    pub fn texts(&self) -> Texts {
        let locale =
            ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| self.var(name)).unwrap_or_default();
        Texts::of(Language::of_locale(&locale))
    }

    /// The texts of messages: in the language of the settings, else in the caller's.
    #[must_use]
    pub fn message_texts(&self) -> Texts {
        match &self.settings.notify.language {
            Some(language) => Texts::of(Language::of_locale(language)),
            None => self.texts(),
        }
    }

    /// A variable as text, if it is set and not empty.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<String> {
        self.env
            .get(OsStr::new(name))
            .map(|value| value.to_string_lossy().into_owned())
            .filter(|v| !v.is_empty())
    }

    /// The redactor that knows the secrets of this environment and of the settings. There is one, so that a secret has
    /// the same placeholder everywhere.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        self.redactor.get_or_init(|| self.new_redactor()).clone()
    }

    fn new_redactor(&self) -> Redactor {
        let vars: Vec<(String, String)> = self
            .env
            .iter()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect();
        let redactor = Redactor::from_env(vars.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if let Some(model) = &self.settings.model {
            redactor.learn(&model.url);
            let key = model.key_env.as_deref().and_then(|name| self.var(name));
            key.iter().for_each(|key| redactor.know(key));
        }
        // Whoever knows the address of a chat can write there.
        let addresses = self.settings.notify.webhook.values().filter_map(|hook| hook.url.as_deref());
        addresses.filter(|url| url.contains("://")).for_each(|url| redactor.know(url));
        redactor
    }

    /// Whether the folder that it was started in has no path: then nothing can be looked at, and nothing healed.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.cwd == Path::new(LOST)
    }

    /// Opens the store.
    ///
    /// # Errors
    /// With a hint, when it cannot be opened.
    pub fn store(&self) -> Result<Store, CommandError> {
        let anchors = self.settings.store.anchors.iter().filter_map(|word| Anchor::from_word(word)).collect();
        let store = Store::open(&self.state, StoreOptions::default());
        store.map(|store| store.with_anchors(anchors)).map_err(|error| {
            CommandError::from(error)
                .hint(format!("state directory {}; `selfheal doctor` tells more", self.state.display()))
        })
    }

    /// The file that `init` writes and that the user owns.
    #[must_use]
    pub fn own_settings_file(&self) -> PathBuf {
        let var =
            |name: &str| self.env.get(OsStr::new(name)).filter(|value| !value.is_empty()).map(PathBuf::from);
        own_file(&var, self.uid).unwrap_or_else(|| PathBuf::from("/etc/selfheal/selfheal.toml"))
    }
}

/// A folder that was removed, or that cannot be reached from here: jobs run in it as they would without selfheal.
const LOST: &str = ".";

const MACHINE_FILE: &str = "/etc/selfheal/selfheal.toml";

fn own_file(var: &impl Fn(&str) -> Option<PathBuf>, uid: u32) -> Option<PathBuf> {
    let folder = var("XDG_CONFIG_HOME").or_else(|| var("HOME").map(|home| home.join(".config")));
    match folder {
        Some(folder) if uid != 0 || var("XDG_CONFIG_HOME").is_some() => {
            Some(folder.join("selfheal/selfheal.toml"))
        }
        _ => None,
    }
}

fn settings_files(
    var: &impl Fn(&str) -> Option<PathBuf>,
    cwd: &std::path::Path,
    uid: u32,
) -> Vec<(Origin, PathBuf)> {
    let mut files = vec![(Origin::Machine, PathBuf::from(MACHINE_FILE))];
    files.extend(own_file(var, uid).map(|file| (Origin::User, file)));
    files.push((Origin::Project, cwd.join("selfheal.toml")));
    files
}

impl Terminal {
    fn of_process(env: &BTreeMap<OsString, OsString>) -> Self {
        let error = std::io::stderr().is_terminal();
        let plain = env.get(OsStr::new("NO_COLOR")).is_some_and(|value| !value.is_empty())
            || env.get(OsStr::new("TERM")).is_some_and(|term| term == "dumb");
        let width = env.get(OsStr::new("COLUMNS")).and_then(|n| n.to_str()).and_then(|n| n.parse().ok());
        Self {
            input: std::io::stdin().is_terminal(),
            output: std::io::stdout().is_terminal(),
            error,
            colour: error && !plain,
            width: width.unwrap_or(100),
        }
    }
}
