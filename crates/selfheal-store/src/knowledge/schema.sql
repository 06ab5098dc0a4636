-- The index of knowledge: everything here is made from files and can be thrown away. docs/store.md describes it.
CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    path ANY NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    modified INTEGER NOT NULL,
    len INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TABLE piece (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL,
    heading TEXT NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    is_data INTEGER NOT NULL
) STRICT;
CREATE INDEX piece_document ON piece (document);
-- Terms, not texts: names are taken apart before they come here. Contentless: the texts are in `piece`.
CREATE VIRTUAL TABLE term USING fts5 (heading, body, content = '', contentless_delete = 1, tokenize = 'unicode61');
