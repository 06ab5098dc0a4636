CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, shelf TEXT);
-- since 2.0 the title is only kept with the book
CREATE TABLE loans (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES books(id), reader TEXT, due TEXT);
