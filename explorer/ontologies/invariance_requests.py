"""The three ways to put a question again (Bombieri et al. 2024): as it is, warmer, and in other languages."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence

from explorer.errors import OntologyError
from explorer.ontologies.buckets import Bucket
from explorer.ontologies.prompts import LANGUAGES, REPEATS, TEMPERATURES, Prompt, build_request
from explorer.records import Instance, Request

PER_BUCKET = 20

# Way → (language, temperature) of each repeat.
WAYS: Mapping[str, tuple[tuple[str, float], ...]] = {
    "PI-1": (("en", 0.0),) * REPEATS,
    "PI-2": tuple(("en", temperature) for temperature in TEMPERATURES),
    "PI-3": tuple((language, 0.0) for language in LANGUAGES),
}


def sample(buckets: Sequence[Bucket], per_bucket: int = PER_BUCKET, seed: int = 0) -> list[int]:
    """Places of at most `per_bucket` concepts of each bucket, drawn without replacement, bucket by bucket."""
    chance = random.Random(seed)
    return [row for bucket in buckets for row in sorted(chance.sample(bucket.rows, min(per_bucket, len(bucket.rows))))]


def build_repeated(
    instance: Instance, prompt: Prompt, prefix: str, title: str, way: str, *, as_released: bool = False
) -> list[Request]:
    """The requests of one way, whose name is their setting; `part` numbers them."""
    if way not in WAYS:
        raise OntologyError(f"There is no way {way!r} to repeat a prompt, expected one of {', '.join(WAYS)}.")
    requests = (
        build_request(
            instance,
            prompt,
            prefix,
            title,
            language=language,
            temperature=temperature,
            part=part,
            as_released=as_released,
        )
        for part, (language, temperature) in enumerate(WAYS[way])
    )
    return [dataclasses.replace(request, factors={**request.factors, "setting": way}) for request in requests]
