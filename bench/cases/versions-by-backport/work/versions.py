from importlib_metadata import distributions
import sys

# which packages does the report server have? names only, sorted
wanted = [line.strip() for line in open("wanted.txt") if line.strip()]
have = {(d.metadata["Name"] or "").lower() for d in distributions()}
with open("have.txt", "w") as out:
    for name in wanted:
        out.write("%s %s\n" % (name, "yes" if name.lower() in have else "no"))
sys.exit(0 if wanted else 3)
