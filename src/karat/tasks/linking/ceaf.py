"""The best one-to-one alignment of clusters, solved for each connected part on its own.

Nothing dense reaches across parts. A part with one row or one column needs no solver; small parts
are packed into one dense problem; large ones go to a sparse solver, whose memory is that of the
edges.
"""

from __future__ import annotations

import numpy as np

from karat.model.pairs import FloatArray, IntArray

PACK = 48
"""Small parts are packed side by side into dense problems of about this many rows and columns."""

DENSE = 400
"""A part with more rows and columns than this is solved sparsely."""


def best(row: IntArray, column: IntArray, weight: FloatArray) -> IntArray:
    """The edges of a heaviest matching: indices into the edge list. Weights are positive."""
    if not len(row):
        return np.zeros(0, dtype=np.int64)
    part = _parts(row, column)
    order = np.argsort(part, kind="stable")
    row, column, weight = row[order], column[order], weight[order]
    edges = np.flatnonzero(np.concatenate([[True], np.diff(part[order]) != 0, [True]]))
    rows, columns = _distinct(row, edges), _distinct(column, edges)
    taken = [_stars(weight, edges, (rows == 1) | (columns == 1))]
    hard = np.flatnonzero((rows > 1) & (columns > 1))
    pack: list[int] = []
    height = width = 0
    for p in hard[np.argsort(rows[hard] + columns[hard], kind="stable")].tolist():
        if max(rows[p], columns[p]) > DENSE:
            here = np.arange(edges[p], edges[p + 1])
            taken.append(here[_sparse(row[here], column[here], weight[here])])
            continue
        if pack and (height + rows[p] > PACK or width + columns[p] > PACK):
            taken.append(_dense(pack, edges, row, column, weight))
            pack, height, width = [], 0, 0
        pack.append(p)
        height, width = height + int(rows[p]), width + int(columns[p])
    if pack:
        taken.append(_dense(pack, edges, row, column, weight))
    return order[np.concatenate(taken)]


def _parts(row: IntArray, column: IntArray) -> IntArray:
    """The connected part that each edge lies in."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = int(row.max()) + 1
    size = rows + int(column.max()) + 1
    graph = coo_array((np.ones(len(row), dtype=np.int8), (row, column + rows)), shape=(size, size))
    _, label = connected_components(graph.tocsr(), directed=False)
    return np.asarray(label[row], dtype=np.int64)


def _distinct(end: IntArray, edges: IntArray) -> IntArray:
    """How many different ends each part has."""
    # An end lies in one part only, so its first edge counts it there.
    first = np.zeros(len(end), dtype=np.int64)
    first[np.unique(end, return_index=True)[1]] = 1
    return np.add.reduceat(first, edges[:-1])


def _stars(weight: FloatArray, edges: IntArray, star: np.ndarray) -> IntArray:
    """The heaviest edge of each part in which all edges meet."""
    heaviest = np.maximum.reduceat(weight, edges[:-1])
    part = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    hit = np.flatnonzero((weight == heaviest[part]) & star[part])
    return hit[np.unique(part[hit], return_index=True)[1]]


def _dense(
    pack: list[int], edges: IntArray, row: IntArray, column: IntArray, weight: FloatArray
) -> IntArray:
    """The matched edges of a few small parts, from one dense assignment."""
    from scipy.optimize import linear_sum_assignment

    here = np.concatenate([np.arange(edges[p], edges[p + 1]) for p in pack])
    _, r = np.unique(row[here], return_inverse=True)
    _, c = np.unique(column[here], return_inverse=True)
    matrix = np.zeros((int(r.max()) + 1, int(c.max()) + 1))
    matrix[r, c] = weight[here]
    chosen = np.full(len(matrix), -1, dtype=np.int64)
    a, b = linear_sum_assignment(matrix, maximize=True)
    chosen[a] = b
    return np.asarray(here[chosen[r] == c], dtype=np.int64)


def _sparse(row: IntArray, column: IntArray, weight: FloatArray) -> IntArray:
    """The matched edges of one large part, with a private empty partner for every row.

    Each row is matched exactly once, so adding a constant to all costs changes nothing; it makes
    them positive, which the solver needs.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    _, r = np.unique(row, return_inverse=True)
    _, c = np.unique(column, return_inverse=True)
    rows, columns = int(r.max()) + 1, int(c.max()) + 1
    base = float(weight.max()) + 1.0
    cost = np.concatenate([base - weight, np.full(rows, base)])
    from_row = np.concatenate([r, np.arange(rows)])
    to_column = np.concatenate([c, columns + np.arange(rows)])
    graph = coo_array((cost, (from_row, to_column)), shape=(rows, columns + rows)).tocsr()
    a, b = min_weight_full_bipartite_matching(graph)
    chosen = np.full(rows, -1, dtype=np.int64)
    chosen[a] = b
    return np.flatnonzero(chosen[r] == c)
