-- To whom each message goes: a row a channel, with its tries and how they ended.

CREATE TABLE delivery (
    message  INTEGER NOT NULL,
    channel  TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next     INTEGER,
    done     INTEGER,
    error    TEXT,
    PRIMARY KEY (message, channel)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_by_next ON delivery (channel, next) WHERE next IS NOT NULL;
CREATE INDEX delivery_by_end ON delivery (channel, done);
