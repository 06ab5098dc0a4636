def shorten(text):
    if not text:
        raise ValueError('an empty article')
    return text if len(text) <= 12 else text[:11] + '.'
