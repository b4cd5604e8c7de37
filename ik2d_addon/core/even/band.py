# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear equations in three neighbours each, with two full rows and one full column: in O(n) steps.

In plain numbers, since numpy's solver takes all of n x n, and runs even small matrices in many threads that
wait for one another.
"""

from collections.abc import Sequence

# Less than any number that such equations have: not zero, to divide by.
NO_PIVOT = 1e-290


def solved(
    before: Sequence[float],
    own: Sequence[float],
    after: Sequence[float],
    column: Sequence[float],
    rows: Sequence[Sequence[float]],
    values: Sequence[Sequence[float]],
) -> list[list[float]]:
    """Return the solutions (v) of n + 2 equations in x_0 .. x_n and z, each of n + 2 numbers, z the last.

        before_i x_(i-1) + own_i x_i + after_i x_(i+1) + column_i z = values_i   for i < n
        rows_0 . (x, z) = values_n,   rows_1 . (x, z) = values_(n+1)

    before, own, after, column: (n); rows: (2, n + 2); values: (v, n + 2). Elimination with the greater of
    two pivots, of three at the end.
    """
    n = len(own)
    first, second = list(rows[0]), list(rows[1])
    count = len(values)
    first += [value[n] for value in values]
    second += [value[n + 1] for value in values]
    # The row in hand: its numbers for x_k, x_(k+1), x_(k+2), then for z and the values.
    row = [own[0], after[0], 0.0, column[0], *(value[0] for value in values)]
    done = []
    ends = range(3, 4 + count)
    for k in range(n - 1):
        below = [before[k + 1], own[k + 1], after[k + 1], column[k + 1], *(value[k + 1] for value in values)]
        if abs(below[0]) > abs(row[0]):
            row, below = below, row
        pivot = row[0] or NO_PIVOT
        share = below[0] / pivot
        above, two = first[k] / pivot, second[k] / pivot
        first[k + 1] -= above * row[1]
        second[k + 1] -= two * row[1]
        first[k + 2] -= above * row[2]
        second[k + 2] -= two * row[2]
        rest = [below[1] - share * row[1], below[2] - share * row[2], 0.0]
        for i in ends:
            number = row[i]
            rest.append(below[i] - share * number)
            first[n - 2 + i] -= above * number
            second[n - 2 + i] -= two * number
        done.append(row)
        row = rest
    last = [[row[0], row[1], *row[3:]], first[n - 1 :], second[n - 1 :]]
    return [_from_the_end(done, _three(last, value), value) for value in range(count)]


def _three(rows: list[list[float]], value: int) -> list[float]:
    """Return the solution of three equations, the values being the column 3 + value."""
    rows = [[*row[:3], row[3 + value]] for row in rows]
    for k in range(3):
        best = max(range(k, 3), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        pivot = rows[k][k] or NO_PIVOT
        for i in range(k + 1, 3):
            share = rows[i][k] / pivot
            rows[i] = [b - share * a for a, b in zip(rows[k], rows[i], strict=True)]
    z = rows[2][3] / (rows[2][2] or NO_PIVOT)
    y = (rows[1][3] - rows[1][2] * z) / (rows[1][1] or NO_PIVOT)
    x = (rows[0][3] - rows[0][2] * z - rows[0][1] * y) / (rows[0][0] or NO_PIVOT)
    return [x, y, z]


def _from_the_end(done: list[list[float]], last: list[float], value: int) -> list[float]:
    """Return all unknowns, from the last three and one more by each row that is done."""
    x, after, z = last
    values = [z, after, x]
    for row in reversed(done):
        x, after = (row[4 + value] - row[1] * x - row[2] * after - row[3] * z) / (row[0] or NO_PIVOT), x
        values.append(x)
    values.reverse()
    return values
