-- version 12: `returned` is now called `returned_on`, `due` is now `due_on`
CREATE TABLE loans (reader TEXT, title TEXT, due_on TEXT, returned_on TEXT);
