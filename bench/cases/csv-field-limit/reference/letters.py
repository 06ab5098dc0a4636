import csv

csv.field_size_limit(2**31 - 1)

# one row per letter: date, sender, text
count = 0
longest = 0
with open("letters.csv", newline="", encoding="utf-8") as f:
    for date, sender, text in csv.reader(f):
        count += 1
        longest = max(longest, len(text))
with open("letters.stat", "w") as out:
    out.write(f"{count} letters, longest {longest}\n")
