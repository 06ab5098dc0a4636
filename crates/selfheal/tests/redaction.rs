//! Secrets come into a job by twelve channels, and none of them reaches anything that selfheal writes, sends or says.
//! What is searched: every file of the store but the saved contents of files (they are kept as they are, and never
//! sent), the document, the story, everything that was sent to the model, the messages, and what `show` prints.

use std::collections::BTreeMap;
use std::path::Path;

use selfheal_testkit::{ModelServer, Reply, TestEnv};
use serde_json::json;

use crate::support::{document, env};

/// Channel and secret. Each is written in the way in which such a thing turns up there.
const CANARIES: [(&str, &str); 12] = [
    ("stdout", "ghp_c4N4ryStd0utc4N4ryStd0utc4N4ryStd0"),
    ("stderr", "canary/stderr!77aa01"),
    ("environment", "canary environment 77aa02"),
    ("argv", "canary-argv-77aa03"),
    ("script text", "canary-script-77aa04"),
    ("file beside", "AKIAC4N4RYF1LE77AA05"),
    ("file name", "glpat-canaryName77aa06canary"),
    ("log file", "canary.log.77aa07"),
    ("model answer", "canary-answer-77aa08"),
    ("traceback locals", "canary locals 77aa09"),
    ("url", "canary-url-77aa10"),
    ("config", "canary:config:77aa11"),
];

fn secret(channel: &str) -> &'static str {
    CANARIES.iter().find(|(name, _)| *name == channel).map(|(_, secret)| *secret).unwrap()
}

/// Standard base64 of the text behind so many other bytes, without the letters at both ends that these change.
fn base64_core(text: &str, shift: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = std::iter::repeat_n(0, shift)
        .chain(text.bytes())
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
        .collect();
    let letters: String = bits
        .chunks_exact(6)
        .map(|six| LETTERS[six.iter().fold(0, |sum, bit| sum << 1 | usize::from(*bit))] as char)
        .collect();
    letters[(shift * 8).div_ceil(6)..].to_owned()
}

/// What a secret may look like somewhere.
fn forms(secret: &str) -> Vec<String> {
    let url: String = secret
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![secret.to_owned(), url, hex, secret.replace('/', "\\/")];
    forms.extend((0..3).map(|shift| base64_core(secret, shift)));
    // The telling part of it alone is too much already.
    forms.extend(
        secret.split(['-', ' ', '/', ':', '.', '!']).filter(|part| part.contains("77aa")).map(str::to_owned),
    );
    forms
}

/// Everything that was written or said, by where.
#[derive(Default)]
struct Sinks(BTreeMap<String, Vec<u8>>);

impl Sinks {
    fn add(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.entry(name.into()).or_default().extend(bytes.into());
    }

    fn add_folder(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            // Contents of files, kept to be put back or compared: as they are, and never sent.
            let content =
                path.components().any(|part| part.as_os_str() == "good") && path.extension().is_none();
            if path.is_dir() && !path.ends_with("objects") {
                self.add_folder(&path);
            } else if path.is_file() && !content {
                self.add(path.display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }

    /// Where which secret is found.
    fn leaks(&self) -> Vec<String> {
        let mut leaks = Vec::new();
        for (channel, secret) in CANARIES {
            for form in forms(secret) {
                for (name, bytes) in &self.0 {
                    let found = bytes.windows(form.len()).position(|window| window == form.as_bytes());
                    leaks.extend(found.map(|at| {
                        let around = &bytes[at.saturating_sub(60)..(at + form.len() + 20).min(bytes.len())];
                        format!("{channel} as {form} in {name}: {}", String::from_utf8_lossy(around))
                    }));
                }
            }
        }
        leaks
    }
}

const MEAN: &str = "#!/bin/bash\nset -eu\nAPI_KEY=@SCRIPT@\n. ./app.env\ncat out.txt\nbase64 -w0 out.txt; echo\n\
    cat err.txt >&2\necho \"deploy token is ${DEPLOY_TOKEN:-}\" >&2\necho \"got $*\"\ncat people.csv\ntouch \"dump-$(cat name.txt).tar\"\n\
    ls dump-* >&2\ncat extra.txt >> job.log\ntail -n 1 job.log >&2\necho \"denied for $DB_PASSWORD\" >&2\n\
    printf '%s\\n' \"$API_KEY\" >&2\ntotal=$(cat total)\ncount=$(cat count)\necho $((total / count)) > mean\n";

const SALES: &str = "def total(row, key='total'):\n    password = open('locals.txt').read().strip()\n    copy = dict(row)\n    \
    return copy[key] / 0\n\ntotal({'total': 3})\n";

fn laid_out(server: &ModelServer) -> TestEnv {
    let env = env().with("DEPLOY_TOKEN", secret("environment"));
    env.write("mean.sh", MEAN.replace("@SCRIPT@", secret("script text")));
    env.write("sales.py", SALES);
    env.write("app.env", format!("DB_PASSWORD='{}'\n", secret("config")));
    env.write("out.txt", format!("uploading with token {} now\n", secret("stdout")));
    let url = format!("fetching https://bob:{}@files.example/x?y=1\n", secret("url"));
    env.write("err.txt", format!("{url}login failed: password=\"{}\"\n", secret("stderr")));
    env.write("people.csv", format!("name,key\nAda,{}\n", secret("file beside")));
    env.write("name.txt", secret("file name"));
    env.write("extra.txt", format!("\u{1b}[31msecret\u{1b}[0m: {}\n", secret("log file")));
    env.write("locals.txt", secret("traceback locals"));
    env.write("total", "10\n");
    env.write("count", "0\n");
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = format!(
        "[model]\nname = \"openai:test\"\nurl = \"{}\"\nsend = \"data\"\nway = \"full\"\n",
        server.url()
    );
    std::fs::write(folder.join("selfheal.toml"), settings).unwrap();
    env
}

/// Runs a job with its own output aside, so that only what selfheal says counts.
fn run_into(sinks: &mut Sinks, env: &TestEnv, name: &str, command: &[&str]) -> String {
    let bare = std::process::Command::new(command[0])
        .args(&command[1..])
        .current_dir(env.work())
        .env("DEPLOY_TOKEN", secret("environment"))
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    let mut args = vec!["--apply", "medium", "--"];
    args.extend_from_slice(command);
    let (outcome, document) = document(env, &args);
    let own = String::from_utf8_lossy(&bare.stderr);
    let said: Vec<&str> =
        outcome.stderr.lines().filter(|line| !own.lines().any(|known| known == *line)).collect();
    sinks.add(format!("story of {name}"), said.join("\n"));
    sinks.add(format!("document of {name}"), document.to_string());
    document["status"].as_str().unwrap().to_owned()
}

#[test]
fn no_canary_of_twelve_channels_reaches_a_sink() {
    let diagnosis = json!({
        "basis": "project",
        "evidence": ["mean.sh: division by 0, said with password=canary-answer-77aa08"],
        "line": 19,
        "root_cause": "Line 19 divides total by count, and count is 0, with api_key=canary-answer-77aa08.",
        "strategy": "Write a mean of zero when there is nothing to count; password=canary-answer-77aa08.",
        "verify": [],
        "what": "script",
    });
    let proposal = json!({
        "changes_meaning": false,
        "change_summary": ["Line 19: the mean is zero when count is zero, password=canary-answer-77aa08."],
        "edits": [{
            "find": "echo $((total / count)) > mean",
            "replace": "if [ \"$count\" -eq 0 ]; then mean=0; else mean=$((total / count)); fi\necho \"$mean\" > mean",
        }],
        "risk_assessment": "medium",
        "rollback_plan": "Put the old line 19 back.",
    });
    let server = ModelServer::start_with(move |call, _| match call % 2 {
        0 => Reply::json(&diagnosis),
        _ => Reply::json(&proposal),
    });
    let env = laid_out(&server);
    let mut sinks = Sinks::default();
    let healed = run_into(&mut sinks, &env, "mean", &["bash", "mean.sh", "--password", secret("argv")]);
    assert_eq!(healed, "healed", "the whole way must be gone, or there is nothing to search");
    run_into(&mut sinks, &env, "sales", &["python3", "sales.py"]);
    env.run(&["tick"]);
    sinks.add_folder(&env.state());
    for request in server.requests() {
        sinks.add("sent to the model", request.json().to_string());
    }
    let listed = env.run(&["incidents", "--json"]).stdout;
    sinks.add("incidents", listed.clone());
    let all: serde_json::Value = serde_json::from_str(&listed).unwrap();
    for incident in all.as_array().unwrap() {
        let id = incident["id"].as_str().unwrap();
        for form in
            [&["show", id][..], &["show", id, "--json"], &["show", id, "--sent"], &["show", id, "--patch"]]
        {
            sinks.add(format!("{form:?}"), env.run(form).stdout);
        }
    }
    // What must be there shows that the right places are searched.
    let sent = String::from_utf8_lossy(&sinks.0["sent to the model"]).into_owned();
    for shown in ["division by 0", "[secret-", "Ada", "uploading with token"] {
        assert!(sent.contains(shown), "{shown}: {sent}");
    }
    assert!(
        sinks.0.keys().any(|name| name.ends_with("journal.db")) && sinks.0.len() >= 12,
        "{:?}",
        sinks.0.keys()
    );
    let leaks = sinks.leaks();
    println!("{} leaks of {} canaries in {} sinks", leaks.len(), CANARIES.len(), sinks.0.len());
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}
