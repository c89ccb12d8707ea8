# SPDX-License-Identifier: GPL-2.0-only
class Queens:
    def __init__(self, n):
        self.n, self.found = n, 0
        self.rows, self.up, self.down = set(), set(), set()

    def place(self, c):
        if c == self.n:
            self.found += 1
            return
        for r in range(self.n):
            if r in self.rows or r + c in self.up or r - c in self.down:
                continue
            self.rows.add(r), self.up.add(r + c), self.down.add(r - c)
            self.place(c + 1)
            self.rows.remove(r), self.up.remove(r + c), self.down.remove(r - c)


def primes(limit):
    sieve = bytearray([1]) * limit
    for i in range(2, limit):
        if sieve[i]:
            yield i
            sieve[i * i::i] = bytes(len(range(i * i, limit, i)))


def escapes(x, y, limit=40):
    z = 0j
    for n in range(limit):
        if abs(z) > 2:
            return n
        z = z * z + complex(x, y)
    return limit


queens = Queens(6)
queens.place(0)
print(queens.found, sum(primes(30000)))
print(sum(escapes(x / 14, y / 12) for y in range(-12, 12)
          for x in range(-20, 20)))
words = {}
for i in range(8000):
    key = "w%d" % (i * 7919 % 997)
    words[key] = words.get(key, 0) + i
print(sorted(words, key=lambda word: (words[word], word))[:3])
text = "the quick brown fox jumps over the lazy dog " * 60
print(len({word.upper() for word in text.split()}), text.count("o"))
print(",".join(f"{i:03d}:{i % 17}" for i in range(3000))[-20:])
try:
    [][1]
except IndexError as why:
    print(why)
