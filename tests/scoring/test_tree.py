from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer.records import PackedRow
from explorer.scoring.engine import tree as engine_tree

SEQUENCES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8), min_size=1, max_size=30)
ROW_TOKENS = st.sampled_from([1, 6, 25, 1000])


def ancestors(row: PackedRow, node: int) -> list[int]:
    """The nodes from the root to a node."""
    path = []
    while node >= 0:
        path.append(node)
        node = row.parents[node]
    return path[::-1]


def nodes_scored(row: PackedRow) -> list[int]:
    return [node for node, scored in enumerate(row.scored) if scored]


def fed_tokens(row: PackedRow) -> int:
    return int(engine_tree.scored_below(np.array(row.scored), engine_tree.ends(np.array(row.parents))).sum())


@given(sequences=SEQUENCES, row_tokens=ROW_TOKENS, data=st.data())
def test_every_scored_token_is_found_after_its_own_prefix(sequences, row_tokens, data):
    starts = [data.draw(st.integers(0, len(sequence) - 1)) for sequence in sequences]
    packing = engine_tree.pack(sequences, starts, row_tokens)
    for sequence, start, place in zip(sequences, starts, packing.places, strict=True):
        row = packing.rows[place.row]
        assert len(place.slots) == len(sequence) - start
        for depth, slot in enumerate(place.slots, start):
            if depth == 0:
                assert slot == -1  # nothing stands before the first token
                continue
            path = ancestors(row, nodes_scored(row)[slot])
            assert [row.ids[node] for node in path] == sequence[: depth + 1]
            assert [row.positions[node] for node in path] == list(range(depth + 1))


@given(sequences=SEQUENCES, row_tokens=ROW_TOKENS)
def test_within_a_row_no_prefix_stands_twice(sequences, row_tokens):
    for row in engine_tree.pack(sequences, [0] * len(sequences), row_tokens).rows:
        paths = [tuple(row.ids[node] for node in ancestors(row, node)) for node in range(len(row.ids))]
        assert len(set(paths)) == len(paths)


@given(sequences=SEQUENCES, row_tokens=ROW_TOKENS)
def test_an_interval_tells_ancestors(sequences, row_tokens):
    for row in engine_tree.pack(sequences, [0] * len(sequences), row_tokens).rows:
        end = engine_tree.ends(np.array(row.parents))
        for i in range(len(row.ids)):
            assert [j for j in range(len(row.ids)) if j <= i < end[j]] == ancestors(row, i)


@given(sequences=SEQUENCES, data=st.data())
def test_only_tokens_before_a_scored_one_are_fed(sequences, data):
    starts = [data.draw(st.integers(0, len(sequence) - 1)) for sequence in sequences]
    for row in engine_tree.pack(sequences, starts, 25).rows:
        needed = {node for scored in nodes_scored(row) for node in ancestors(row, scored)[:-1]}
        fed = engine_tree.scored_below(np.array(row.scored), engine_tree.ends(np.array(row.parents)))
        assert set(np.flatnonzero(fed)) == needed


def test_a_pair_shares_its_opening():
    # 0 1 2 3 and 0 1 4 3: the trunk 0 1, then 2 3, then 4 3 whose first token follows the 1
    packing = engine_tree.pack([[0, 1, 4, 3], [0, 1, 2, 3]], [1, 1])
    (row,) = packing.rows
    assert row == PackedRow(
        ids=(0, 1, 2, 3, 4, 3),
        parents=(-1, 0, 1, 2, 1, 4),
        positions=(0, 1, 2, 3, 2, 3),
        scored=(False, True, True, True, True, True),
    )
    assert [place.slots.tolist() for place in packing.places] == [[0, 3, 4], [0, 1, 2]]


def test_no_sequences_make_no_rows():
    assert engine_tree.pack([], []) == engine_tree.Packing([], [])


def test_rows_of_short_sequences_are_nearly_full():
    draw = np.random.default_rng(0)
    sequences = [draw.integers(0, 50, size=draw.integers(5, 25)).tolist() for _ in range(2000)]
    rows = engine_tree.pack(sequences, [1] * len(sequences), 256).rows
    lengths = sorted(len(row.ids) for row in rows)[1:]
    assert 1 - np.mean(lengths) / max(lengths) < 0.1


def test_what_is_fed_of_short_sequences_fills_rows_of_one_length():
    draw = np.random.default_rng(1)
    sequences = [draw.integers(0, 9, size=draw.integers(5, 15)).tolist() for _ in range(3000)]
    rows = engine_tree.pack(sequences, [1] * len(sequences), 256).rows
    fed = [fed_tokens(row) for row in rows[:-1]]
    assert 0.93 * 256 <= min(fed) <= max(fed) <= 256


def test_a_long_shared_context_is_kept_together():
    context = list(range(100, 1100))
    sequences = [[*context[:cut], word, 7] for cut in (300, 600, 1000) for word in (1, 2)]
    packing = engine_tree.pack(sequences, [len(sequence) - 2 for sequence in sequences], row_tokens=128)
    assert len(packing.rows) == 1
    assert len(packing.rows[0].ids) == len(context) + 3 * 2 * 2


def test_a_trunk_is_repeated_when_many_branches_hang_on_it():
    # 600 branches of 20 tokens on a trunk of 100: rows of which at most 800 are fed, each with the trunk once more.
    trunk = list(range(100))
    sequences = [[*trunk, 1000 + branch, *range(19)] for branch in range(600)]
    rows = engine_tree.pack(sequences, [100] * len(sequences), row_tokens=128).rows
    assert 400 <= max(map(fed_tokens, rows)) <= 800
    assert sum(len(row.ids) for row in rows) <= 1.25 * 600 * 20


def test_a_row_ends_between_two_trunks_not_within_a_trie():
    # Two items of a 100-token trunk and 10 branches of 10 each: 190 tokens of an item are fed, a row has room for 280.
    sequences = [[item, *range(99), 1000 + branch, *range(9)] for item in (1, 2) for branch in range(10)]
    rows = engine_tree.pack(sequences, [100] * len(sequences), row_tokens=280).rows
    assert [len(row.ids) for row in rows] == [200, 200]
