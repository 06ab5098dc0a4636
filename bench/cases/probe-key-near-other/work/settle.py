import json
d = json.load(open("trade.json"))
open("settled", "w").write("%d\n" % (d["seller_id"] * 1000 + d["amount"]))
