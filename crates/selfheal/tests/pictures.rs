//! Pictures of failures: the wire is real, what the model copied out is scripted.

use selfheal_testkit::{ModelServer, Reply, TestEnv};
use serde_json::Value;

use crate::support::{document, env};

/// The smallest PNG, one black pixel, in base64.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
/// The same with a text beside the pixels.
const BYTES: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\x0dtEXtAuthor\0jannis\0\0\0\0\0\0\0\nIDATx\x9cc`\0\0\0\x02\0\x01\x48\xaf\xa4\x71\0\0\0\0IEND\xaeB`\x82";

fn with_model(url: &str, more: &str) -> TestEnv {
    let env = env();
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("[model]\nname = \"openai:eyes\"\nurl = \"{url}\"\n{more}\n");
    std::fs::write(folder.join("selfheal.toml"), text).unwrap();
    std::fs::write(env.work().join("shot.png"), BYTES).unwrap();
    env
}

#[test]
fn the_text_of_a_picture_is_explained_like_any_output() {
    let said = "```\n\u{1b}[31mjob.sh: line 2: jqq: command not found\u{1b}[0m\nexport API_TOKEN=Zx81kQm4Lw77vTb2\n```";
    let server = ModelServer::start([Reply::text(said)]);
    let env = with_model(&server.url(), "vision = true");
    env.write("job.sh", "set -e\njqq . a.json\n");
    let args = ["explain", "--image", "shot.png", "--command", "bash job.sh", "--exit-code", "127", "--json"];
    let run = env.run(&args);
    let object: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_eq!(object["core_error"], "job.sh: line 2: jqq: command not found");
    assert_eq!((&object["class"], &object["location"]["line"]), (&"environment".into(), &2.into()));
    assert_eq!(object["confidence"], "medium", "what a model copied is never certain");
    assert!(object["context"].to_string().contains("copied out by the model eyes"), "{object:#}");
    assert!(!run.stdout.contains("Zx81kQm4Lw77vTb2"));
    let requests = server.requests();
    let sent = requests[0].json()["messages"][1]["content"][1]["image_url"]["url"].clone();
    assert_eq!(sent, format!("data:image/png;base64,{PIXEL}"), "without what stands beside the pixels");
}

#[test]
fn a_picture_goes_nowhere_that_data_may_not_go() {
    let server = ModelServer::start([Reply::text("x")]);
    let refused = |more: &str| {
        let env = with_model(&server.url(), more);
        let run = env.run(&["explain", "--image", "shot.png"]);
        assert_eq!(run.code, 2, "{run:?}");
        run.stderr
    };
    let said = refused("vision = true\nsend = \"text\"");
    assert!(
        said.contains("secrets cannot be taken out of a picture") && said.contains("send = \"data\""),
        "{said}"
    );
    let said = refused("");
    assert!(said.contains("no model that sees pictures") && said.contains("vision = true"), "{said}");
    assert!(server.requests().is_empty());
}

#[test]
fn what_is_no_picture_is_not_sent() {
    let server = ModelServer::start([Reply::text("x")]);
    let env = with_model(&server.url(), "vision = true");
    env.write("fake.png", "#!/bin/sh\n");
    std::fs::write(env.work().join("cut.png"), &BYTES[..60]).unwrap();
    std::fs::create_dir(env.work().join("folder.png")).unwrap();
    for (file, why) in [
        ("fake.png", "neither PNG nor JPEG"),
        ("cut.png", "damaged or cut off"),
        ("folder.png", "cannot be read"),
        ("none.png", "cannot be read"),
    ] {
        let run = env.run(&["explain", "--image", file]);
        assert!(run.code == 1 && run.stderr.contains(why), "{file}: {run:?}");
    }
    assert!(server.requests().is_empty());
}

/// A job that says nothing but the name of its picture.
fn job(env: &TestEnv, makes: &str) -> Value {
    env.write("job.sh", format!("set -e\n{makes}\necho 'quux gave up, see shot.png' >&2\nexit 3\n"));
    document(env, &["--", "bash", "job.sh"]).1
}

#[test]
fn a_picture_that_the_job_made_and_names_is_read() {
    let server = ModelServer::start([
        Reply::text("Error: in prepare, no such table: orders"),
        Reply::nonsense(),
        Reply::nonsense(),
    ]);
    let env = with_model(&server.url(), "vision = true");
    let made = job(&env, &format!("base64 -d > shot.png <<< {PIXEL}"));
    assert!(made["report"]["context"].to_string().contains("copied out by the model eyes"), "{made:#}");
    assert_eq!(made["report"]["class"], "dependency", "{made:#}");
    assert_ne!(made["report"]["confidence"], "high", "{made:#}");
}

#[test]
fn a_picture_from_before_the_run_says_nothing_about_it() {
    let server = ModelServer::start([Reply::nonsense(), Reply::nonsense(), Reply::nonsense()]);
    let env = with_model(&server.url(), "vision = true");
    let shot = std::fs::File::options().append(true).open(env.work().join("shot.png")).unwrap();
    shot.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3_600)).unwrap();
    let made = job(&env, ":");
    assert!(!made["report"]["context"].to_string().contains("copied out"), "{made:#}");
    assert!(server.requests().iter().all(|request| !request.body.contains("image_url")));
}
