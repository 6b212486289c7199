import math

from hypothesis import given
from hypothesis import strategies as st

from explorer.ontologies.buckets import bucket_numbers, bucketize, fill, mean

counts = st.lists(st.integers(0, 60).map(float) | st.just(math.nan), max_size=80)


def test_buckets_hold_equally_many_distinct_counts_and_the_last_the_remainder():
    # distinct 0 1 2 3 5 9 20: floor(7 / 3) = 2 each, so 0-1, 2-3 and 5-20
    made = bucketize([5, 0, 0, 1, 2, 3, 9, 20, 0], buckets=3)
    assert [(bucket.low, bucket.high) for bucket in made] == [(0, 1), (2, 3), (5, 20)]
    assert [bucket.rows for bucket in made] == [(1, 2, 3, 8), (4, 5), (0, 6, 7)]


def test_as_released_each_bucket_but_the_first_lacks_its_first_concept():
    made = bucketize([5, 0, 0, 1, 2, 3, 9, 20, 0], buckets=3, as_released=True)
    assert [bucket.rows for bucket in made] == [(1, 2, 3, 8), (5,), (6, 7)]


def test_as_released_of_equal_counts_the_first_in_the_file_is_lost():
    # the second bucket holds the count 1 alone, and row 2 has it first
    made = bucketize([0, 0, 1, 1, 1], buckets=2, as_released=True)
    assert made[1].rows == (3, 4)


def test_as_released_a_bucket_of_one_concept_stays_empty():
    assert [bucket.rows for bucket in bucketize([0, 1, 2], buckets=3, as_released=True)] == [(0,), (), ()]


def test_fewer_counts_than_buckets_give_as_many_buckets_as_counts():
    assert len(bucketize([3, 3, 7], buckets=50)) == 2
    assert bucketize([math.nan], buckets=50) == []


@given(counts, st.integers(1, 20))
def test_every_counted_concept_is_in_the_one_bucket_of_its_count(values, number):
    made = bucketize(values, number)
    rows = [row for bucket in made for row in bucket.rows]
    assert sorted(rows) == [row for row, value in enumerate(values) if not math.isnan(value)]
    assert all(bucket.low <= values[row] <= bucket.high for bucket in made for row in bucket.rows)
    assert all(bucket.rows for bucket in made)
    numbers = bucket_numbers(made, len(values))
    assert all((numbers[row] == 0) == math.isnan(value) for row, value in enumerate(values))


@given(counts, st.integers(1, 20))
def test_as_released_loses_one_concept_a_bucket_and_moves_none(values, number):
    whole, released = bucketize(values, number), bucketize(values, number, as_released=True)
    assert sum(len(b.rows) for b in whole) - sum(len(b.rows) for b in released) == max(len(whole) - 1, 0)
    assert all(set(left.rows) <= set(full.rows) for left, full in zip(released, whole, strict=True))


def test_a_mean_leaves_gaps_out():
    assert mean([1.0, math.nan, 3.0]) == 2.0
    assert math.isnan(mean([math.nan]))


def test_a_sample_falls_into_the_buckets_of_the_whole():
    whole = bucketize([0, 0, 1, 2, 3, 4, 50, 60], 4)
    sample = fill(whole, [60, 0, float("nan"), 3, 1000])
    assert [(bucket.number, bucket.low, bucket.high) for bucket in sample] == [
        (bucket.number, bucket.low, bucket.high) for bucket in whole
    ]
    assert [bucket.rows for bucket in sample] == [
        (1,),
        (),
        (),
        (0, 3, 4),
    ]  # no count is lost, none beyond the last range
