use proptest::prelude::*;

use super::*;

fn masked(text: &str) -> String {
    Redactor::default().text(text).to_string()
}

#[test]
fn masks_what_is_named_as_secret() {
    for (text, expected) in [
        ("DB_PASSWORD=hunter22 x", "DB_PASSWORD=[secret-1] x"),
        ("DB_PASSWORD=p@ss!w#rd, x", "DB_PASSWORD=[secret-1], x"),
        ("export TOKEN='made up value 7'", "export TOKEN='made up value 7'"),
        ("export PASSWORD='made up value 7'", "export PASSWORD='[secret-1]'"),
        ("curl --api-key abc123 u", "curl --api-key [secret-1] u"),
        (r#"{"secret": "abc", "n": 1}"#, r#"{"secret": "[secret-1]", "n": 1}"#),
        (r#""{\"password\": \"abc7\"}""#, r#""{\"password\": \"[secret-1]\"}""#),
        ("password: hunter", "password: [secret-1]"),
        ("Authorization: Bearer abcdefgh", "Authorization: Bearer [secret-1]"),
        ("curl -H 'Cookie: sid=abc; x=y' z", "curl -H 'Cookie: [secret-1]' z"),
        ("psql postgres://bob:pa@ss@db/x", "psql postgres://bob:[secret-1]@db/x"),
        ("Server=db;User Id=sa;Password=Pa55;", "Server=db;User Id=sa;Password=[secret-1];"),
        ("AccountKey=Zm9vYmFy==;EndpointSuffix=x", "AccountKey=[secret-1];EndpointSuffix=x"),
        ("GET /x?sig=a1b2c3d4e5&y=1", "GET /x?sig=[secret-1]&y=1"),
        ("machine h login bob password hunter2", "machine h login bob password [secret-1]"),
        ("mysql -u root -phunter2 db", "mysql -u root -p[secret-1] db"),
        ("curl -u 'bob:hunter2' http://h/", "curl -u 'bob:[secret-1]' http://h/"),
        ("key ghp_0123456789012345678901234567890abc", "key [secret-1]"),
        ("https://hooks.slack.com/services/T0/B0/abc", "https://hooks.slack.com/services/[secret-1]"),
        ("x=%7B%22password%22%3A%22hun7er%22%7D", "x=%7B%22password%22%3A%22[secret-1]%22%7D"),
        ("pass\u{1b}[1mword=hun\u{1b}[0mter2 x", "pass\u{1b}[1mword=[secret-1] x"),
        ("b64 cGFzc3dvcmQ9aHVudGVyMjI= end", "b64 [secret-1] end"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n",
            "-----BEGIN RSA PRIVATE KEY-----[secret-1]\n\n-----END RSA PRIVATE KEY-----\n",
        ),
        ("abc+/=\n-----END PRIVATE KEY-----\n", "[secret-1]\n-----END PRIVATE KEY-----\n"),
    ] {
        assert_eq!(masked(text), expected, "{text}");
    }
}

#[test]
fn leaves_ordinary_text_alone() {
    for text in [
        "cp: cannot stat 'logs/*.log': No such file or directory\n",
        "PASSWORD=$(cat file)",
        "password: $PW",
        "password = os.environ['PW']",
        "token = self.next_token()",
        "max_tokens=500",
        "the token near `done'",
        "syntax error near unexpected token: end",
        "1 passed, 2 failed; pass: 12",
        "https://example.org/a:b@c",
        "http://localhost:8080/a@b",
        "Grüße, 你好: ok\n",
        "-----BEGIN CERTIFICATE-----\nabc\n",
        "primary_key=id, sort_key: created_at",
        "Permission denied (publickey,password).",
        "docker run -p 8080:80 nginx",
        "PWD=/srv/jobs",
        "PASSWORD_FILE=/run/secrets/db",
        "password=[secret-3] [secret]",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn known_values_are_found_in_every_form() {
    let redactor =
        Redactor::from_env([("DB_PASSWORD", "it's a/p\"w 7"), ("URL", "https://me:hunter22@host/x")]);
    for text in [
        "said it's a/p\"w 7.",
        r#"said it's a\/p\"w 7."#,
        r#"said it'\''s a/p"w 7."#,
        "said it%27s%20a%2Fp%22w%207.",
        "said aXQncyBhL3AidyA3 and",
        "said hunter22 and more",
        "cut off at it's a/p",
        "a/p\"w 7 was cut off",
    ] {
        let out = redactor.text(text).to_string();
        assert!(out.contains("[secret-"), "{out}");
    }
    let whole = redactor.text("it's a/p\"w 7, hunter22, it's a/p\"w 7").to_string();
    let parts: Vec<&str> = whole.split(", ").collect();
    assert!(parts[0] == parts[2] && parts[0] != parts[1], "{whole}");
}

#[test]
fn what_was_seen_beside_its_name_is_known_without_it() {
    let redactor = Redactor::default();
    redactor.learn("mysql --password=hunter-22x\npassword: required\n");
    assert_eq!(redactor.text("denied for hunter-22x; required").as_str(), "denied for [secret-1]; required");
}

#[test]
fn words_and_lists_know_the_word_before() {
    let redactor = Redactor::default();
    let value = serde_json::json!({
        "words": ["mysql", "--password", "hunter2", "-u", "x"],
        "pair": ["API_TOKEN", "abc"],
        "rest": ["a", 1, "PASSWORD=hunter2"],
        "api_key": "zzz",
    });
    let text = redactor.json(&value).unwrap().to_string();
    assert!(!text.contains("hunter2") && !text.contains("abc") && !text.contains("zzz"), "{text}");
    assert!(text.contains("\"mysql\"") && text.contains("\"-u\""), "{text}");
}

#[test]
fn placeholders_come_back_only_for_what_the_text_held() {
    let redactor = Redactor::default().leaving();
    let script = "PASSWORD=hunter22\ncp /home/ada/x y\n";
    let shown = redactor.text(script).to_string();
    assert_eq!(shown, "PASSWORD=[secret-1]\ncp /home/[user-1]/x y\n");
    assert_eq!(redactor.with_users(&redactor.restored(&shown, script)), script);
    assert_eq!(redactor.restored(&shown, "other"), shown);
    let key = "k='-----BEGIN PRIVATE KEY-----\nabc\ndef\n-----END PRIVATE KEY-----'\nrun\n";
    let shown = redactor.text(key).to_string();
    assert_eq!(
        (shown.lines().count(), redactor.restored(&shown, key)),
        (key.lines().count(), key.to_owned())
    );
}

#[test]
fn nothing_is_said_by_debug() {
    let redactor = Redactor::from_env([("TOKEN_A", "hunter-22x")]);
    assert!(!format!("{redactor:?}").contains("hunter"));
}

/// Each of these would take very long if anything were looked at again and again.
#[test]
fn long_hostile_lines_are_read_once() {
    let redactor = Redactor::from_env([("A_TOKEN", "canary-77aa01-zx")]);
    for piece in [
        "://",
        "token=",
        "password '",
        "key: ",
        "eyJ",
        "\\",
        "%41",
        "-----BEGIN ",
        "Private-Lines: 9\n",
        "AAAA",
        "a:b@",
        "Bearer ",
        "\"password\": $",
        "curl -u ",
        "canary-",
        "\u{1b}[",
        "é=",
    ] {
        let text = piece.repeat(60_000 / piece.len());
        assert!(!redactor.text(&text).as_str().is_empty(), "{piece}");
    }
    let long = format!("password={} end", "x1".repeat(10_000));
    assert_eq!(masked(&long), "password=[secret-1] end");
}

/// Lines of what the tools of a Linux machine print; none of it is secret.
#[test]
fn few_ordinary_lines_are_changed() {
    let corpus = include_str!("benign.txt");
    let redactor = Redactor::from_env([("SOME_PASSWORD", "correct horse battery")]);
    let lines: Vec<&str> = corpus.lines().collect();
    let changed: Vec<&&str> = lines.iter().filter(|line| redactor.text(line).as_str() != **line).collect();
    println!("{} of {} lines changed: {changed:#?}", changed.len(), lines.len());
    assert!(lines.len() >= 2_000 && changed.len() * 100 <= lines.len(), "{} {changed:#?}", lines.len());
}

proptest! {
    #[test]
    fn a_known_value_never_comes_through(before in "\\PC{0,40}", after in "\\PC{0,40}", esc in 0_usize..4) {
        // What begins an escape before it makes another text of it.
        prop_assume!(!before.contains(['%', '\\']));
        let secret = "canary-77aa01-zx";
        let redactor = Redactor::from_env([("A_TOKEN", secret)]);
        let written = match esc {
            0 => secret.to_owned(),
            1 => "canary\u{1b}[0m-77aa\u{200b}01-zx".to_owned(),
            2 => "canary%2D77aa01-zx".to_owned(),
            _ => "canary-\\u0037\\u0037aa01-zx".to_owned(),
        };
        let out = redactor.text(&format!("{before}{written}{after}")).to_string();
        prop_assert!(!out.contains(&written), "{}", out);
    }

    #[test]
    fn any_text_is_taken_and_a_second_time_changes_little(text in "\\PC{0,200}") {
        let redactor = Redactor::default();
        let once = redactor.text(&text);
        prop_assert!(redactor.text(once.as_str()).as_str().len() <= once.as_str().len() + 64);
    }
}
