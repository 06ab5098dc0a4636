//! The index of knowledge: what it finds, and that it may be lost at any time.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use selfheal_core::ids::{ContentHash, Timestamp};
use selfheal_core::knowledge::{Document, Kind, Piece, terms};
use selfheal_core::ports::Knowledge;
use selfheal_store::{KnowledgeIndex, KnowledgeSource, KnowledgeSources};

use crate::helpers::{Place, redacted};

fn document(path: &Path, texts: &[&str]) -> (Document, Vec<Piece>) {
    let piece = |text: &&str| Piece {
        path: path.to_owned(),
        kind: Kind::Reference,
        heading: redacted("## 2.0"),
        first_line: 3,
        last_line: 4,
        text: redacted(text),
        is_data: false,
    };
    let document = Document {
        path: path.to_owned(),
        kind: Kind::Reference,
        modified_ns: 17,
        len: 40,
        hash: ContentHash::new("00"),
    };
    (document, texts.iter().map(piece).collect())
}

fn found(index: &KnowledgeIndex, words: &str) -> Vec<String> {
    let pieces = index.search(&terms(words), 10).unwrap();
    pieces.into_iter().map(|piece| piece.text.as_str().to_owned()).collect()
}

#[test]
fn names_are_found_in_every_spelling_and_the_best_comes_first() {
    let place = Place::new();
    let index = KnowledgeIndex::open(&place.root()).unwrap();
    index
        .put(&[document(
            Path::new("/d/CHANGES"),
            &["--max-retries is gone", "maxRetries and max_retries", "see also: max", "日志目录已更名"],
        )])
        .unwrap();
    let all = found(&index, "max_retries");
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(all.last().map(String::as_str), Some("see also: max"));
    assert_eq!(found(&index, "日志"), ["日志目录已更名"]);
    assert_eq!(found(&index, "changes").len(), 4, "the name of the file counts");
    assert_eq!(found(&index, "nothing like it"), Vec::<String>::new());
    let hostile = ["\" OR *", "a\"b", "NEAR(", "heading:x", ""].map(str::to_owned);
    assert_eq!(index.search(&hostile, 10).unwrap(), []);
}

#[test]
fn a_document_takes_the_place_of_what_it_was_before() {
    let place = Place::new();
    let index = KnowledgeIndex::open(&place.root()).unwrap();
    let odd = PathBuf::from(OsString::from_vec(b"/d/\xff\n'x".to_vec()));
    index.put(&[document(&odd, &["old words"]), document(Path::new("/d/b"), &["other"])]).unwrap();
    index.put(&[document(&odd, &["new words", "and more"])]).unwrap();
    assert_eq!(found(&index, "words"), ["new words"]);
    let again = KnowledgeIndex::open(&place.root()).unwrap();
    assert_eq!(again.documents().unwrap().iter().filter(|document| document.path == odd).count(), 1);
    assert_eq!(again.drop_documents(&[odd.clone(), odd]).unwrap(), 1);
    assert_eq!(found(&index, "words"), Vec::<String>::new());
    assert_eq!(found(&index, "other").len(), 1);
}

#[test]
fn an_index_that_is_lost_damaged_or_not_ours_is_empty() {
    let breakers: [fn(&Path); 4] = [
        |file| std::fs::remove_file(file).unwrap(),
        |file| {
            std::fs::write(file, "no database at all, and longer than a header of one is. ".repeat(40))
                .unwrap()
        },
        |file| rusqlite::Connection::open(file).unwrap().pragma_update(None, "user_version", 99).unwrap(),
        |file| {
            std::fs::remove_file(file).unwrap();
            rusqlite::Connection::open(file).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        },
    ];
    for (number, breaker) in breakers.iter().enumerate() {
        let place = Place::new();
        let index = KnowledgeIndex::open(&place.root()).unwrap();
        index.put(&[document(Path::new("/d/a"), &["words"])]).unwrap();
        drop(index);
        breaker(&place.root().join("knowledge.db"));
        let index = KnowledgeIndex::open(&place.root()).unwrap();
        assert_eq!(index.documents().unwrap(), [], "{number}");
        index.put(&[document(Path::new("/d/a"), &["words"])]).unwrap();
        assert_eq!(found(&index, "words").len(), 1, "{number}");
    }
}

#[test]
fn what_belongs_to_it_is_kept_apart() {
    let place = Place::new();
    let sources = KnowledgeSources::of(&place.root());
    assert_eq!(sources.all().unwrap(), []);
    let source = |path: &str, kind| KnowledgeSource { path: path.into(), kind, added: Timestamp(5) };
    sources.add(source("/a", None)).unwrap();
    sources.add(source("/b", Some(Kind::Context))).unwrap();
    sources.add(source("/a", Some(Kind::Incident))).unwrap();
    assert_eq!(
        sources.all().unwrap(),
        [source("/b", Some(Kind::Context)), source("/a", Some(Kind::Incident))]
    );
    KnowledgeIndex::discard(&place.root()).unwrap();
    assert!(sources.remove(Path::new("/b")).unwrap());
    assert!(!sources.remove(Path::new("/b")).unwrap());
    assert_eq!(sources.all().unwrap().len(), 1);
}
