python3 -c "
import sqlite3
c = sqlite3.connect('library.db'); c.executescript(open('schema.sql').read())
c.executemany('insert into loans values (?,?,?,?)', [('ann','Moss','2031-03-01',None),('bo','Fern','2031-04-01',None),('cy','Oak','2031-01-01','2031-02-01')]); c.commit()"
