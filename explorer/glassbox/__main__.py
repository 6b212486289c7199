"""Writes the benchmarks and the ontology of the glass box anew from what is planted."""

from __future__ import annotations

import json

from explorer.benchmarks.glassbox import FOLDER
from explorer.glassbox import ontology, pairs, synonyms


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, rows in (("glassbox_pairs", pairs.test_rows()), ("glassbox_synonyms", synonyms.test_rows())):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (FOLDER / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (FOLDER / "glassbox.obo").write_text(ontology.as_obo(), encoding="utf-8")


if __name__ == "__main__":
    main()
