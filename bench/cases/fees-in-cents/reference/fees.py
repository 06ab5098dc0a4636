"""Monthly fees by member, from answer.json of the club's service, into fees.csv."""
import json

with open("answer.json", encoding="utf-8") as source:
    answer = json.load(source)
with open("fees.csv", "w", encoding="utf-8") as out:
    for member in answer["members"]:
        fee = (member["monthly_fee_cents"] + member["locker_fee_cents"]) / 100
        out.write("%s;%s;%.2f\n" % (member["member_no"], member["full_name"], fee))
