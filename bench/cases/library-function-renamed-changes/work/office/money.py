def parse_cents(text):
    euro, cent = text.split('.')
    return int(euro) * 100 + int(cent)

def show(cents):
    return '%d.%02d EUR' % divmod(cents, 100)
