"""An instance with stored swaps made again, where a run kept the swaps and not the perturbed text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.records import Instance
from explorer.variants import articles, fields
from explorer.variants.fields import Edit
from explorer.variants.swap_edits import OPENING

# An article right before a word, with marks that may stand between the two.
_ARTICLE = re.compile(rf"(?<!\w)(an?)(?=\s+[{re.escape(''.join(mark for mark in OPENING if len(mark) == 1))}]*$)", re.I)


def swapped_instance(instance: Instance, swaps: Sequence[Mapping[str, Any]]) -> Instance:
    """The instance with its words swapped and the articles before them mended."""
    texts = fields.field_texts(instance)
    edits = {}
    for swap in swaps:
        part, start, end, substitute = (swap[name] for name in ("part", "start", "end", "substitute"))
        text = texts[part]
        edits[part, start] = Edit(part, start, end, substitute)
        article = _ARTICLE.search(text[:start])
        if article and articles.indefinite_article(substitute) != articles.indefinite_article(text[start:end]):
            mended = articles.mend_article(article[1], substitute)
            edits.setdefault((part, article.start(1)), Edit(part, article.start(1), article.end(1), mended))
    edit = json.dumps({"swaps": [dict(swap) for swap in swaps]}, ensure_ascii=False)
    return fields.rebuild_instance(instance, list(edits.values()), parent=instance.id, edit=edit)
