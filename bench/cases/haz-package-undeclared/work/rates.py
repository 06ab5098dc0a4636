import currencytable_ecb

with open("rates.txt", "w") as out:
    for code, rate in currencytable_ecb.today():
        out.write(f"{code} {rate}\n")
