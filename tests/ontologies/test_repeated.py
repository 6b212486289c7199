from explorer.ontologies.buckets import bucketize
from explorer.ontologies.repeated import repeated_ids

IDS = ["T:1", "T:2", "T:3", "T:4"]
BUCKETS = bucketize([0, 0, 0, 9], buckets=2)  # T:1 T:2 T:3 seldom, T:4 often


def test_the_most_repeated_ids_are_counted_by_bucket_against_an_even_spread():
    predicted = ["T:4"] * 3 + ["T:1"] * 2 + ["T:2"]
    found = repeated_ids(IDS, predicted, BUCKETS, top=2)
    # of the top two, T:4 and T:1, one is in each bucket; spread evenly it would be 2 * 3/4 and 2 * 1/4
    assert found.actual == (1, 1)
    assert found.expected == (1.5, 0.5)
    assert found.ratio == (1 / 1.5, 2)


def test_ties_at_the_last_rank_go_to_the_answer_that_came_first():
    assert repeated_ids(IDS, ["T:4", "T:1", "T:2"], BUCKETS, top=1).actual == (0, 1)
    assert repeated_ids(IDS, ["T:1", "T:4", "T:2"], BUCKETS, top=1).actual == (1, 0)


def test_unknown_ids_keep_their_rank_and_are_dropped_afterwards():
    found = repeated_ids(IDS, ["T:9", "T:9", "T:1"], BUCKETS, top=2)
    assert found.actual == (1, 0)
    assert found.unknown == 1


def test_answers_without_an_id_have_no_rank():
    assert repeated_ids(IDS, ["", "", "T:1"], BUCKETS, top=1).actual == (1, 0)
