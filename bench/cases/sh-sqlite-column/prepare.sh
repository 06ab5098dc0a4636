python3 - <<'P'
import sqlite3
db = sqlite3.connect("shop.db")
db.executescript("""CREATE TABLE sales (sku TEXT, qty INTEGER); CREATE TABLE customers (name TEXT); INSERT INTO sales VALUES ('a', 1), ('b', 9);""")
P
