import json
from pathlib import Path
p = Path(__file__).with_name("users.json")
users = json.loads(p.read_text())
names = sorted(u["name"] for u in users if u["active"])
Path(__file__).with_name("active.txt").write_text("\n".join(names) + "\n")
