"""Monthly fees by member, from answer.json of the club's service, into fees.csv."""
import json

with open("answer.json", encoding="utf-8") as source:
    answer = json.load(source)
with open("fees.csv", "w", encoding="utf-8") as out:
    for member in answer["members"]:
        fee = member.get("monthlyFee", 0) + member.get("lockerFee", 0)
        out.write("%s;%s;%.2f\n" % (member.get("memberNo"), member.get("fullName"), fee))
