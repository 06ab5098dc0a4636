-- Under which conditions a remembered repair may be tried, and where it comes from; and how often what was right.

ALTER TABLE memory ADD COLUMN language TEXT NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN tool TEXT NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN incident TEXT;
ALTER TABLE memory ADD COLUMN learnt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN expired TEXT;
CREATE INDEX memory_by_incident ON memory (incident);

CREATE TABLE tally (
    class TEXT NOT NULL,
    tool  TEXT NOT NULL,
    kind  TEXT NOT NULL,
    name  TEXT NOT NULL,
    won   INTEGER NOT NULL,
    lost  INTEGER NOT NULL,
    PRIMARY KEY (class, tool, kind, name)
) STRICT, WITHOUT ROWID;
