import sys

people = 0
for line in open("towns.tsv", encoding="utf-8"):
    name, count = line.rstrip("\n").split("\t")
    people += int(count.replace(",", ""))
print(people, file=open("people.txt", "w"))
