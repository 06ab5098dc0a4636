"""Mean level of each gauge, for the page of the harbour.

gauges/NAME holds one level a line; a gauge that sent nothing shows "-".
"""
import os

with open("levels.txt", "w") as page:
    for name in sorted(os.listdir("gauges")):
        with open(os.path.join("gauges", name)) as lines:
            levels = [float(line) for line in lines]
        mean = sum(levels) / len(levels)
        page.write(f"{name} {mean:.2f}\n")
