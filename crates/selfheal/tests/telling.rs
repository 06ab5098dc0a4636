//! People are told: by webhooks on the wire, grouped, again when it did not work, and what a policy waits for.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Delivery, Outbox};
use selfheal_core::redact::Redactor;
use selfheal_store::{Store, StoreOptions};
use selfheal_testkit::TestEnv;
use serde_json::Value;

use crate::support::{BACKUP, backup_env, document, env, only_incident};

/// A chat that takes everything, or nothing.
struct Chat {
    url: String,
    taken: Arc<Mutex<Vec<Value>>>,
    status: Arc<Mutex<u16>>,
}

impl Chat {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook/S3CRETPATH", listener.local_addr().unwrap());
        let (taken, status) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(200)));
        let (kept, answers) = (Arc::clone(&taken), Arc::clone(&status));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = BufReader::new(stream);
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if stream.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                        break;
                    }
                    let line = line.to_lowercase();
                    if let Some(text) = line.strip_prefix("content-length:") {
                        length = text.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                if stream.read_exact(&mut body).is_err() {
                    continue;
                }
                kept.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                let status = *answers.lock().unwrap();
                let head =
                    format!("HTTP/1.1 {status} Answer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                let _ = stream.get_mut().write_all(head.as_bytes());
            }
        });
        Self { url, taken, status }
    }

    fn answer(&self, status: u16) {
        *self.status.lock().unwrap() = status;
    }

    fn texts(&self) -> Vec<String> {
        self.taken.lock().unwrap().iter().map(|body| body["text"].as_str().unwrap().to_owned()).collect()
    }
}

fn settings(env: &TestEnv, text: &str) {
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("selfheal.toml"), text).unwrap();
}

/// Patient, so that a loaded machine does not end a delivery.
fn told_by(chat: &Chat, more: &str) -> String {
    format!(
        "[notify]\nat-end = 100\n{more}\n[notify.webhook.chat]\npreset = \"slack\"\nurl = \"{}\"\n",
        chat.url
    )
}

fn store(env: &TestEnv) -> Store {
    Store::open(&env.state(), StoreOptions::default()).unwrap()
}

/// Lets what waits for another try be due now.
fn pass_time(env: &TestEnv) {
    let store = store(env);
    let now = Timestamp(1);
    for due in store.due("chat", Timestamp(i64::MAX), 100).unwrap() {
        let again = Delivery::Again { at: now, error: Redactor::default().text("test") };
        store.settle("chat", &[due.row], &again).unwrap();
    }
}

#[test]
fn a_chat_is_told_at_the_end_of_the_run_in_plain_words_with_the_line_to_approve_last() {
    let (env, chat) = (backup_env(), Chat::start());
    settings(&env, &told_by(&chat, ""));
    assert_eq!(env.run(&["run", "--", "bash", "backup.sh"]).code, 1);
    let texts = chat.texts();
    assert_eq!(texts.len(), 1, "{texts:?}");
    let id = only_incident(&env);
    let lines: Vec<&str> = texts[0].lines().collect();
    assert!(lines[0].starts_with('[') && lines[0].ends_with("a repair for bash backup.sh waits for you"));
    for start in ["where: ", "error: cp: ", "why: ", "repair: ", "risk: low", "proof: "] {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start}: {lines:#?}");
    }
    assert_eq!(*lines.last().unwrap(), format!("Approve with: selfheal approve {id}"));
    assert!(env.run(&["tick"]).stdout.starts_with("0 delivered"));
    assert_eq!(chat.texts().len(), 1, "a message is delivered once");
}

#[test]
fn messages_are_in_the_language_of_the_settings() {
    let (env, chat) = (backup_env(), Chat::start());
    settings(&env, &told_by(&chat, "language = \"zh\""));
    env.run(&["run", "--", "bash", "backup.sh"]);
    let text = chat.texts().pop().unwrap();
    assert!(text.contains("批准：selfheal approve "), "{text}");
}

#[test]
fn a_job_that_succeeds_when_it_runs_again_tells_nobody() {
    let (env, chat) = (env(), Chat::start());
    settings(&env, &told_by(&chat, ""));
    env.script("job", "#!/bin/bash\n[ -e tried ] && exit 0\n: > tried\necho 'curl: (56) Recv failure: Connection reset by peer' >&2\nexit 56\n");
    assert_eq!(env.run(&["run", "--repeatable", "--", "./job"]).code, 0);
    env.run(&["tick"]);
    assert_eq!(chat.texts(), Vec::<String>::new());
}

#[test]
fn what_comes_during_the_pause_goes_together_afterwards() {
    let (env, chat) = (env(), Chat::start());
    settings(&env, &told_by(&chat, "pause = 100000"));
    for name in ["one", "two", "three"] {
        env.script(name, &format!("#!/bin/bash\necho 'frob: {name} is broken' >&2\nexit 9\n"));
        env.run(&["run", "--once", "--", "bash", name]);
    }
    assert_eq!(chat.texts().len(), 1);
    assert!(env.run(&["tick"]).stdout.starts_with("0 delivered"));
    settings(&env, &told_by(&chat, "pause = 0"));
    let tick = env.run(&["tick"]);
    assert!(tick.stdout.starts_with("2 delivered"), "{tick:?}");
    let texts = chat.texts();
    assert_eq!(texts.len(), 2);
    assert!(
        texts[1].contains("2 messages") && texts[1].contains("bash two") && texts[1].contains("bash three")
    );
}

#[test]
fn what_was_not_taken_is_tried_again_and_nothing_is_lost() {
    let (env, chat) = (backup_env(), Chat::start());
    settings(&env, &told_by(&chat, "pause = 0"));
    chat.answer(503);
    assert_eq!(env.run(&["run", "--", "bash", "backup.sh"]).code, 1, "the job's own exit code stays");
    assert_eq!(chat.texts().len(), 1);
    chat.answer(200);
    assert!(env.run(&["tick"]).stdout.starts_with("0 delivered"), "not again at once");
    pass_time(&env);
    let tick = env.run(&["tick"]);
    assert!(tick.stdout.starts_with("1 delivered"), "{tick:?}");
    assert_eq!(chat.texts().len(), 2);
    assert_eq!(store(&env).waiting_messages().unwrap(), 0);
}

#[test]
fn what_is_never_taken_is_told_by_doctor_and_incidents() {
    let (env, chat) = (backup_env(), Chat::start());
    settings(&env, &told_by(&chat, ""));
    chat.answer(404);
    env.run(&["run", "--", "bash", "backup.sh"]);
    let mut tries = 0;
    loop {
        pass_time(&env);
        let tick = env.run(&["tick"]);
        if tick.stderr.is_empty() {
            break;
        }
        tries += 1;
        assert!(tries < 10, "it is never given up");
        assert!(tick.stderr.contains("chat: ") && tick.stderr.contains("status 404"), "{tick:?}");
        assert!(!tick.stderr.contains("S3CRETPATH"), "{tick:?}");
    }
    assert!(tries > 0);
    for outcome in [env.run(&["incidents"]), env.run(&["doctor"])] {
        let all = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(all.contains("1 message was never taken by chat: "), "{outcome:?}");
        assert!(!all.contains("S3CRETPATH"), "{outcome:?}");
    }
}

#[test]
fn a_channel_that_left_the_settings_is_no_dead_end() {
    let (env, chat) = (backup_env(), Chat::start());
    settings(&env, &told_by(&chat, ""));
    chat.answer(500);
    env.run(&["run", "--", "bash", "backup.sh"]);
    settings(&env, "[notify]\n");
    env.run(&["tick"]);
    assert_eq!(store(&env).waiting_messages().unwrap(), 0);
    assert!(env.run(&["incidents"]).stderr.contains("not in the settings any more"));
}

#[test]
fn channels_can_be_tried_and_their_secrets_stay_secret() {
    let (env, chat) = (env(), Chat::start());
    let key = env.root().join("url");
    std::fs::write(&key, format!("{}\n", chat.url)).unwrap();
    let hook = |place: &str| {
        settings(&env, &format!("[notify.webhook.chat]\npreset = \"slack\"\nurl = \"{place}\"\n"));
        env.run(&["notify", "test", "chat"])
    };
    let good = hook(&format!("file:{}", key.display()));
    assert_eq!((good.code, good.stdout.as_str()), (0, "chat (slack): ok\n"), "{good:?}");
    assert!(chat.texts()[0].contains("can reach you here"));
    chat.answer(403);
    let refused = hook(&chat.url);
    assert_eq!(refused.code, 1);
    assert!(refused.stdout.contains("status 403") && !refused.stdout.contains("S3CRETPATH"), "{refused:?}");
    for (place, says) in [
        ("env:NOT_SET", "NOT_SET is not set"),
        ("file:/nowhere/at/all", "cannot be read"),
        ("credential:chat", "no credentials of systemd"),
        ("S3CRETPATH", "says where the secret is"),
    ] {
        let wrong = hook(place);
        assert_eq!(wrong.code, 1);
        assert!(wrong.stdout.contains(says) && !wrong.stdout.contains("S3CRETPATH"), "{wrong:?}");
        assert!(env.run(&["doctor"]).stdout.contains(says));
    }
    assert_eq!(env.run(&["notify", "test", "pager"]).code, 2);
    settings(&env, "");
    let nobody = env.run(&["notify", "test"]);
    assert!(nobody.stderr.contains("docs/notifications.md"), "{nobody:?}");
}

#[test]
fn a_credential_of_systemd_and_a_variable_are_places_for_secrets() {
    let chat = Chat::start();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chat"), &chat.url).unwrap();
    let env = env().with("CREDENTIALS_DIRECTORY", folder.path()).with("CHAT_URL", &chat.url);
    for place in ["credential:chat", "env:CHAT_URL"] {
        settings(&env, &format!("[notify.webhook.chat]\npreset = \"slack\"\nurl = \"{place}\"\n"));
        assert_eq!(env.run(&["notify", "test"]).stdout, "chat (slack): ok\n");
    }
}

fn policy(env: &TestEnv, low: &str) -> (i32, Value) {
    settings(env, &format!("[policy]\nlow = \"{low}\"\n"));
    let file = std::fs::File::options().append(true).open(env.work().join("backup.sh")).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(7_200)).unwrap();
    let (outcome, document) = document(env, &["--exit-status", "--", "bash", "backup.sh"]);
    (outcome.code, document)
}

#[test]
fn each_answer_of_the_policy_has_its_own_exit_code() {
    for (low, code, status, changed) in [
        ("apply", 0, "healed", true),
        ("park", 110, "held", false),
        ("deny", 112, "refused", false),
        ("wait 2h", 116, "held", false),
    ] {
        let env = backup_env();
        let (got, document) = policy(&env, low);
        assert_eq!((got, document["status"].as_str()), (code, Some(status)), "{low}: {document:#}");
        assert_eq!(env.read("backup.sh") != BACKUP, changed, "{low}");
    }
}

#[test]
fn a_repair_that_waits_is_told_with_its_time_and_can_be_approved_in_it() {
    let (env, chat) = (backup_env(), Chat::start());
    settings(&env, &format!("[policy]\nlow = \"wait 2h\"\n{}", told_by(&chat, "")));
    env.run(&["run", "--", "bash", "backup.sh"]);
    let told = chat.texts().pop().unwrap();
    assert!(told.contains("Approve before 20"), "{told}");
    let again = env.run(&["run", "--exit-status", "--", "bash", "backup.sh"]);
    assert_eq!(again.code, 116, "{again:?}");
    assert_eq!(env.run(&["approve", &only_incident(&env)]).code, 0);
    assert_ne!(env.read("backup.sh"), BACKUP);
}

#[test]
fn nobody_answering_never_applies() {
    let env = backup_env();
    let (code, _) = policy(&env, "wait 1s");
    assert_eq!(code, 116);
    let id = only_incident(&env);
    let begin = std::time::Instant::now();
    while !env.run(&["tick"]).stdout.contains("nobody answered in time") {
        assert!(begin.elapsed() < std::time::Duration::from_secs(100), "it does not expire");
    }
    assert_eq!(env.read("backup.sh"), BACKUP);
    let late = env.run(&["approve", &id]);
    assert_eq!(late.code, 1);
    assert!(late.stderr.contains("expired"), "{late:?}");
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn a_decision_expires_when_the_file_changes() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    env.write("backup.sh", format!("{BACKUP}# mine\n"));
    let tick = env.run(&["tick"]);
    assert!(tick.stdout.contains("its file was changed meanwhile"), "{tick:?}");
    let late = env.run(&["approve", &only_incident(&env)]);
    assert!(late.stderr.contains("expired"), "{late:?}");
    assert_eq!(env.read("backup.sh"), format!("{BACKUP}# mine\n"));
}

#[test]
fn an_answer_that_is_none_is_told() {
    let env = backup_env();
    let (code, document) = policy(&env, "wait two hours");
    assert_eq!((code, document["status"].as_str()), (110, Some("held")), "the file is left out: it parks");
    let strict = env.run(&["run", "--strict", "--", "true"]);
    assert!(strict.stderr.contains("wait 2h"), "{strict:?}");
}

#[test]
fn a_reason_and_a_note_stay_with_the_incident() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    let id = only_incident(&env);
    assert_eq!(env.run(&["reject", &id, "--reason", "the folder must be mounted"]).code, 0);
    assert_eq!(env.run(&["note", &id, "asked", "the storage team\u{1b}[31m"]).code, 0);
    let shown = env.run(&["show", &id]).stdout;
    assert!(shown.contains("the folder must be mounted"), "{shown}");
    assert!(shown.contains("asked the storage team[31m"), "{shown}");
    assert_eq!(env.run(&["note", &id, " "]).code, 2);
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}
