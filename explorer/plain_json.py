"""JSON from outside: the value, or one sentence of ours that says why there is none."""

from __future__ import annotations

import json
from typing import Any


def without_halves(value: Any) -> Any:
    """The value with a sign in the place of each half of a surrogate pair, which JSON can write and no text has."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [without_halves(one) for one in value]
    if isinstance(value, dict):
        return {without_halves(name): without_halves(one) for name, one in value.items()}
    return value


def read(data: bytes | str) -> Any:
    """The value; ValueError with a reason that a reader understands, without the words of Python's own parser."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("lists or objects nested too deeply, expected a few levels") from None
    except json.JSONDecodeError as error:
        if not error.doc.strip():
            raise ValueError("it is empty, expected JSON") from None
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}, expected JSON") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is not UTF-8, expected UTF-8") from None
    except ValueError:
        raise ValueError("a number of thousands of digits, expected at most 4,300") from None
