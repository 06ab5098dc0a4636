import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent
docs = sorted((ROOT / "docs").glob("*.txt"))
result = subprocess.run([str(ROOT / "vendor/bin/wordlist"), *map(str, docs)], check=True, capture_output=True, text=True)
(ROOT / "index.txt").write_text(result.stdout)
print("%d words" % len(result.stdout.split()))
