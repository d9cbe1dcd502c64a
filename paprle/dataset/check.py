def check(places): return []
