-- The first schema. docs/store.md explains every table; times are milliseconds since 1970-01-01 UTC.

CREATE TABLE facts (
    hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    job         TEXT NOT NULL,
    started     INTEGER NOT NULL,
    id          TEXT NOT NULL,
    duration_ms INTEGER NOT NULL,
    exit_code   INTEGER NOT NULL,
    outcome     TEXT NOT NULL,
    facts       TEXT,
    PRIMARY KEY (job, started, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE incident (
    id        TEXT PRIMARY KEY,
    job       TEXT NOT NULL,
    opened    INTEGER NOT NULL,
    updated   INTEGER NOT NULL,
    state     TEXT NOT NULL,
    status    TEXT NOT NULL,
    signature TEXT,
    body      TEXT NOT NULL
) STRICT;
CREATE INDEX incident_by_opened ON incident (opened);
CREATE INDEX incident_by_job ON incident (job, opened);

CREATE TABLE job (
    key   TEXT PRIMARY KEY,
    allow TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
    seq       INTEGER PRIMARY KEY,
    at        INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    incident  TEXT,
    body      TEXT,
    body_hash TEXT NOT NULL,
    prev      TEXT NOT NULL,
    hash      TEXT NOT NULL,
    mac       TEXT NOT NULL
) STRICT;
CREATE INDEX ledger_by_kind ON ledger (kind, at);
CREATE INDEX ledger_by_incident ON ledger (incident, seq);

-- Paths and attribute names are text where they are UTF-8, else blobs: hence ANY.
CREATE TABLE snapshot (
    incident TEXT NOT NULL,
    path     ANY NOT NULL,
    content  TEXT NOT NULL,
    real     ANY NOT NULL,
    link     ANY,
    mode     INTEGER,
    uid      INTEGER,
    gid      INTEGER,
    atime_s  INTEGER,
    atime_ns INTEGER,
    mtime_s  INTEGER,
    mtime_ns INTEGER,
    PRIMARY KEY (incident, path, content)
) STRICT;

CREATE TABLE snapshot_attribute (
    incident TEXT NOT NULL,
    path     ANY NOT NULL,
    content  TEXT NOT NULL,
    name     ANY NOT NULL,
    value    BLOB NOT NULL,
    PRIMARY KEY (incident, path, content, name)
) STRICT;

CREATE TABLE in_place (
    real     ANY PRIMARY KEY,
    old      TEXT NOT NULL,
    new      TEXT NOT NULL
) STRICT;

CREATE TABLE memory (
    entry     TEXT PRIMARY KEY,
    signature TEXT NOT NULL,
    script    ANY NOT NULL,
    edits     TEXT NOT NULL,
    summary   TEXT NOT NULL,
    wins      INTEGER NOT NULL,
    losses    INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_by_failure ON memory (signature, script);

CREATE TABLE outbox (
    id       INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    subject  TEXT NOT NULL,
    text     TEXT NOT NULL,
    incident TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    next     INTEGER
) STRICT;
CREATE INDEX outbox_by_next ON outbox (next) WHERE next IS NOT NULL;
