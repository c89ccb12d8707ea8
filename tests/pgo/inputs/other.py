# SPDX-License-Identifier: GPL-2.0-only
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, column))
                        for column in columns] for row in self.rows])


def parse(text):
    stack, number = [], 0
    for c in text:
        if c.isdigit():
            number = number * 10 + int(c)
            continue
        stack.append(number)
        number = 0
        if c == "+":
            stack.append(stack.pop() + (stack.pop() if stack else 0))
    return stack


print(fib(18))
matrix = Matrix([[i * j % 7 for i in range(24)] for j in range(24)])
print(sum(map(sum, (matrix @ matrix @ matrix).rows)))
print(len(parse("12,7+3,44+" * 900)))
heap = []
for i in range(3000):
    heap.append((i * 7919 % 4001, str(i)))
    if i % 50 == 0:
        heap.sort(reverse=True)
print(heap[:2], max(heap, key=lambda pair: pair[1]))
table = {i: {j: i ^ j for j in range(30)} for i in range(120)}
print(sum(table[i][j] for i in table for j in table[i] if i & j))
print("".join(chr(97 + i % 26) for i in range(5000)).replace("abc", "-")[:9])
print(sum(int(x, 16) for x in map(hex, range(0, 90000, 31))))
