"""Findings as they are read: an interval over fewer than five units, which older versions stored, is left out."""

from __future__ import annotations

from explorer.stats.estimate import FEWEST

# Where a finding's detail says over how many units its interval is. A priming curve tells how many suites its items are
# of; its intervals are over items, but for the mean over suites.
_UNITS = f"""
    CASE
        WHEN low IS NULL OR isnan(low) OR detail IS NULL THEN NULL
        WHEN detail LIKE '%"range"%' THEN NULL  -- low and high are the least and the greatest of some values
        ELSE coalesce(
            TRY_CAST(detail->>'units' AS INTEGER),
            TRY_CAST(detail->>'paradigms' AS INTEGER),
            CASE WHEN grp = 'mean over suites' THEN TRY_CAST(detail->>'suites' AS INTEGER) END,
            {FEWEST}
        )
    END
"""


# A run of 2025 stored `low 0.61, high 0.74, detail {"units": 4}`; what is read of it is `low nan, high nan, reason "no
# interval: 4 units, at least 5 are needed"`. The file keeps its numbers, since a stored run never changes.
def without_few_units(select: str) -> str:
    """The query whose findings have no interval, and no p over the same units, where these are fewer than five.

    What a run stored stays as it is in its files; this is what every page, export and command reads.
    """
    few = f"few < {FEWEST}"
    why = (
        f"'no interval: ' || few || CASE few WHEN 1 THEN ' unit' ELSE ' units' END || ', at least {FEWEST} are needed'"
    )
    none = "CAST('nan' AS DOUBLE)"
    return f"""
        SELECT * EXCLUDE (few) REPLACE (
            CASE WHEN {few} THEN {none} ELSE low END AS low,
            CASE WHEN {few} THEN {none} ELSE high END AS high,
            CASE WHEN {few} THEN {none} ELSE p END AS p,
            CASE WHEN {few} THEN concat_ws('; ', nullif(reason, ''), {why}) ELSE reason END AS reason
        )
        FROM (SELECT *, {_UNITS} AS few FROM ({select}))
    """
