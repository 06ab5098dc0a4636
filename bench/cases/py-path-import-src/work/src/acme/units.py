def to_kg(pounds):
    return pounds * 0.45359237
