"""One's own SyntaxGym suites: as JSON in the published form, or as a table with a row per region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.benchmarks.core import syntaxgym_formula
from explorer.benchmarks.core.benchmark import LeftOut
from explorer.benchmarks.tables import languages
from explorer.benchmarks.tables.reading import Reading
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.values import number, written
from explorer.errors import BenchmarkError, ExplorerError, UsageError
from explorer.records import Condition, Instance

KeyedInstance = tuple[str, Instance]


def from_json(suites: Sequence[Mapping[str, Any]], reading: Reading) -> tuple[list[KeyedInstance], list[LeftOut]]:
    """The items of suites as instances, and those left out with the reason."""
    keyed: list[KeyedInstance] = []
    left_out: list[LeftOut] = []
    for suite_number, suite in enumerate(suites, 1):
        meta = suite.get("meta")
        name = str(meta.get("name") or "") if isinstance(meta, Mapping) else str(suite.get("name") or "")
        name = name or f"suite {suite_number}"
        formulas = reading.formulas or tuple(
            _formula(prediction) for prediction in _required_list(suite, "predictions", name)
        )
        for item_number, item in enumerate(_required_list(suite, "items", name), 1):
            where = f"{name} item {item_number}"
            try:
                conditions = tuple(_condition(condition) for condition in item["conditions"])
                key = str(item.get("item_number", item_number))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                left_out.append(LeftOut(where, f"no conditions with regions ({type(error).__name__}: {error})"))
                continue
            _add_item(keyed, left_out, where, key, name, conditions, formulas, _region_names(suite))
    return keyed, left_out


def from_table(table: Table, reading: Reading) -> tuple[list[KeyedInstance], list[LeftOut]]:
    """The items of a table with a row per region; formulas have to be given, since no row has them."""
    left_out: list[LeftOut] = []
    items: dict[tuple[str, str], dict[str, dict[float, str]]] = {}
    first_rows: dict[tuple[str, str], str] = {}
    cells: dict[tuple[str, str], Mapping[str, Any]] = {}
    columns = reading.columns
    for row in table.rows:
        region = number(row.cells.get(columns["region"]))
        if region is None:
            region_text = written(row.cells.get(columns["region"]))[:40]
            left_out.append(LeftOut(row.where, f"{columns['region']} is {region_text!r}, expected the region's number"))
            continue
        key = (written(reading.cell(row.cells, "group")), written(row.cells.get(columns["item"])))
        conditions = items.setdefault(key, {})
        first_rows.setdefault(key, row.where)
        cells.setdefault(key, row.cells)
        regions = conditions.setdefault(written(row.cells.get(columns["condition"])), {})
        if region in regions:
            left_out.append(LeftOut(row.where, f"region {region:g} of this item and condition for the second time"))
            continue
        regions[region] = written(row.cells.get(columns["content"]))
    keyed: list[KeyedInstance] = []
    for (group, item), item_conditions in items.items():
        versions = tuple(
            Condition(name, tuple(regions.get(float(n), "") for n in range(1, int(max(regions)) + 1)))
            for name, regions in item_conditions.items()
        )
        before = len(keyed)
        _add_item(keyed, left_out, first_rows[group, item], item, group or "suite", versions, reading.formulas, ())
        keyed[before:] = [
            (key, languages.of_row(instance, cells[group, item], reading)) for key, instance in keyed[before:]
        ]
    return keyed, left_out


def _add_item(
    keyed: list[KeyedInstance],
    left_out: list[LeftOut],
    where: str,
    key: str,
    group: str,
    conditions: tuple[Condition, ...],
    formulas: Sequence[str],
    regions: Sequence[str],
) -> None:
    region_counts = {condition.name: len(condition.regions) for condition in conditions}
    for formula in formulas:
        for region in syntaxgym_formula.regions_of(_parse_or_none(formula)):
            if region.condition not in region_counts:
                left_out.append(LeftOut(where, f"no condition {region.condition!r}, which a prediction asks for"))
                return
            if region.number is not None and not 1 <= region.number <= region_counts[region.condition]:
                left_out.append(LeftOut(where, f"no region {region.number} in condition {region.condition!r}"))
                return
    extra = {"formulas": list(formulas), "regions": list(regions)}
    keyed.append((key, Instance("", "", "all", group, "regions", "syntaxgym", conditions=conditions, extra=extra)))


def check_formulas(formulas: Sequence[str]) -> None:
    """UsageError for a prediction that cannot be read."""
    for formula in formulas:
        _parse_or_none(formula)


def _parse_or_none(formula: str) -> Any:
    try:
        return syntaxgym_formula.parse_formula(formula)
    except ExplorerError as error:
        raise UsageError(f"The prediction {formula[:80]!r} cannot be read: {error}") from error


def _formula(prediction: Any) -> str:
    formula = prediction.get("formula") if isinstance(prediction, Mapping) else prediction
    if not isinstance(formula, str):
        raise BenchmarkError(
            f"A prediction of the suite is {str(prediction)[:60]!r}, expected an object with a formula."
        )
    return formula


def _condition(condition: Mapping[str, Any]) -> Condition:
    regions = sorted(condition["regions"], key=lambda region: int(region["region_number"]))
    return Condition(str(condition["condition_name"]), tuple(written(region.get("content")) for region in regions))


def _required_list(suite: Mapping[str, Any], name: str, title: str) -> list[Any]:
    entries = suite.get(name)
    if not isinstance(entries, list) or not entries:
        raise BenchmarkError(f"The suite {title} has no list of {name}, expected the published form of SyntaxGym.")
    return entries


def _region_names(suite: Mapping[str, Any]) -> tuple[str, ...]:
    meta = suite.get("region_meta")
    if not isinstance(meta, Mapping) or not all(str(key).isdecimal() for key in meta):
        return ()
    return tuple(str(meta[key]) for key in sorted(meta, key=int))
