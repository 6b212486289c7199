"""Records: frozen, made in a way of their own that is faster than dataclasses' own."""

import copy
import dataclasses
import inspect
import pickle

import pytest

from explorer.records import Instance, PackedRow, Request, Score

MADE = [
    Instance("b/g/1", "b", "test", "g", "pair", "sentence", options=("x", "y"), gold=0),
    Request("b/g/1", 1, "A", " b", factors={"k": 2}),
    PackedRow((1,), (-1,), (0,), (True,)),
    Score(Request("i", 0, "A"), ("b",), (5,), (-1.5,), 1, 2, True, False, likeliest=(True,)),
]


@pytest.mark.parametrize("record", MADE, ids=lambda record: type(record).__name__)
def test_a_record_is_made_as_dataclasses_makes_it(record):
    usual = dataclasses.make_dataclass(
        "Usual",
        [(field.name, field.type, copy.copy(field)) for field in dataclasses.fields(record)],
        frozen=True,
        slots=True,
    )
    values = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    for given in ((values, ()), ({}, tuple(values.values()))):
        named, placed = given
        assert dataclasses.astuple(type(record)(*placed, **named)) == dataclasses.astuple(usual(*placed, **named))
    needed = [
        name
        for name, parameter in inspect.signature(usual).parameters.items()
        if parameter.default is inspect.Parameter.empty
    ]
    least = {name: values[name] for name in needed}
    assert dataclasses.astuple(type(record)(**least)) == dataclasses.astuple(usual(**least))
    for wrong in ({**values, "no_such": 1}, {name: values[name] for name in needed[1:]}):
        with pytest.raises(TypeError):
            type(record)(**wrong)
    assert list(inspect.signature(type(record)).parameters) == list(values)


@pytest.mark.parametrize("record", MADE, ids=lambda record: type(record).__name__)
def test_a_record_is_frozen_and_survives_copies(record):
    name = dataclasses.fields(record)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, name, None)
    assert pickle.loads(pickle.dumps(record)) == copy.deepcopy(record) == dataclasses.replace(record) == record
    assert hasattr(record, "__slots__") and not hasattr(record, "__dict__")


def test_no_two_records_share_what_is_made_for_each():
    first, second = (Request("i", 0, "A") for _ in range(2))
    assert first.factors == {} and first.factors is not second.factors
