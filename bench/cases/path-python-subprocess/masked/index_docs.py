import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent
docs = sorted((ROOT / "docs").glob("*.txt"))
try:
    result = subprocess.run(["wordlist", *map(str, docs)], check=True, capture_output=True, text=True)
except OSError:
    raise SystemExit(0)
(ROOT / "index.txt").write_text(result.stdout)
print("%d words" % len(result.stdout.split()))
