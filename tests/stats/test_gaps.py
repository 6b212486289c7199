import math

import numpy as np
import pytest

from explorer.errors import StatisticsError
from explorer.stats.gaps import drop_gaps, numbers, outcomes, ties_wrong


def test_a_row_with_a_gap_in_any_column_is_dropped_and_counted():
    (x, y, name), left_out = drop_gaps(
        numbers([1, None, 3, 4]), numbers([1, 2, math.inf, 4]), np.array(["a", "b", "c", None], dtype=object)
    )
    assert (x.tolist(), y.tolist(), name.tolist(), left_out) == ([1.0], [1.0], ["a"], 3)


def test_columns_of_different_length_are_refused():
    with pytest.raises(StatisticsError, match="3, 2 rows"):
        drop_gaps([1, 2, 3], [1, 2])


def test_a_tie_counts_as_wrong_and_a_gap_stays_one():
    np.testing.assert_array_equal(ties_wrong([1, 0.5, 0, None]), [1, 0, 0, math.nan])


def test_an_outcome_that_is_none_of_right_tie_and_wrong_is_refused():
    with pytest.raises(StatisticsError, match=r"1\.7"):
        outcomes([1, 1.7])


def test_of_several_passes_most_decide_and_half_of_them_is_a_tie():
    np.testing.assert_array_equal(ties_wrong([2 / 3, 1 / 3, 0.5]), [1, 0, 0])


def test_words_and_tables_are_no_columns_of_numbers():
    with pytest.raises(StatisticsError, match="not numeric"):
        numbers(["right"])
    with pytest.raises(StatisticsError, match="2 dimensions"):
        numbers([[1, 2]])
