"""Scores of requests that begin with the same long text: that text is encoded and read once, and kept.

What k-shot prompts share, their demonstrations, is most of them. Requests are scored behind the keys and values of the
shared part, and a longer shared part goes on from a shorter one that was read before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from explorer.records import Request, Score
from explorer.scoring import hf_chat
from explorer.scoring.engine import tree as engine_tree
from explorer.scoring.generate import Ids, ModelGenerator, Stats
from explorer.scoring.model import Encoding, Progress
from explorer.scoring.policy import PRESETS, Bos, ScoringPolicy
from explorer.scoring.score import assemble_score, score, score_with_reason, why_unknown_token, why_unscorable

BREAK = "\n\n"  # where prompts are cut: tokenizers of language models put no letter into a token with a line break
OVERLAP = 200  # characters before the cut that the own parts are encoded with
CHECKED = 3  # prompts that are also encoded as a whole


class SharedPrefixScorer:
    """A Scorer for prompts with a long common beginning; anything else it hands to the plain one."""

    def __init__(self, generator: ModelGenerator) -> None:
        self.model = generator.model
        self.name = generator.name
        self.decoder = generator.decoder
        self.stats = Stats()

    def score(
        self,
        requests: Sequence[Request],
        policy: ScoringPolicy = PRESETS["natural"],
        progress: Progress | None = None,
    ) -> list[Score]:
        """log P(continuation | context) of each request, in nats, in the order asked; nan with a reason for none."""
        from explorer.scoring.engine import shared_prefix

        requests = hf_chat.render_requests(self.model, requests) if policy.chat else requests
        scorable = [request for request in requests if not why_unscorable(request)]
        pairs = [policy.move(request.context, request.continuation) for request in scorable]
        parts = split_shared_prefix(self.model, pairs, policy.bos) if policy.split == "offsets" else None
        if parts is None or not shared_prefix.can_share(self.decoder):
            return self._score_without_sharing(requests, policy, progress)
        prefix, tails = parts
        if any(why_unknown_token(self.model, ids) for ids in (prefix, *(tail.ids for tail in tails))):
            return self._score_without_sharing(requests, policy, progress)
        # Requests that are too long for the window get a reason each and do not stop the others.
        room = self.model.window - len(prefix) + 1  # the last token is predicted, never read
        fitting = [i for i, tail in enumerate(tails) if len(tail.ids) <= room]
        packing = engine_tree.pack(
            [tails[i].ids for i in fitting], [tails[i].start for i in fitting], shared_prefix.row_tokens(self.decoder)
        )
        self.stats.prompt_tokens += sum(len(prefix) + len(tails[i].ids) - 1 for i in fitting)
        rows = shared_prefix.logprobs(
            self.decoder, prefix, packing.rows, self.stats, _progress_in_requests(progress, len(requests))
        )
        scores = {
            i: assemble_score(self.model, scorable[i], tails[i], 0, place, rows[place.row])
            for i, place in zip(fitting, packing.places, strict=True)
        }
        numbers = iter(range(len(scorable)))
        in_order = []
        for request in requests:
            if reason := why_unscorable(request):
                in_order.append(score_with_reason(request, reason))
                continue
            i = next(numbers)
            size = f"{len(prefix) + len(tails[i].ids):,} tokens, more than the model's window of {self.model.window:,}"
            in_order.append(scores[i] if i in scores else score_with_reason(request, size))
        if progress:
            progress(len(requests), len(requests))
        return in_order

    def _score_without_sharing(
        self, requests: Sequence[Request], policy: ScoringPolicy, progress: Progress | None
    ) -> list[Score]:
        plain = dataclasses.replace(policy, chat=False)  # rendered already
        scores = score(self.model, requests, plain, progress)
        pairs = [
            policy.move(request.context, request.continuation) for request in requests if not why_unscorable(request)
        ]
        tokens = sum(len(encoding.ids) - 1 for encoding in self.model.encode_all(pairs, policy.bos, policy.split))
        self.stats.prompt_tokens += tokens
        self.stats.read_tokens += tokens
        return scores


# Only what all prompts share may be read once, and a tokenizer decides where that ends, not the characters: encoded up
# to the cut alone, the last token could be another than in the whole prompt. So the cut is made at a paragraph break,
# which tokens do not cross, each prompt's own part is encoded with 200 characters of what stands before, and three
# whole prompts must come out the same, token by token. Where they do not, nothing is shared, and only time is lost.
#
#     Text: dull film↵Label: negative↵↵  Text: great fun↵Label:     one prompt of many
#     └───── shared, read once ───────┘  └──── own part ───┘
#                  └────── lead ──────┘                             encoded again with each own part, then cut off
def split_shared_prefix(model: object, pairs: Sequence[tuple[str, str]], bos: Bos) -> tuple[Ids, list[Encoding]] | None:
    """The ids of what all pairs begin with, and each pair's own tokens behind it; None where they cannot be told apart.

    The own part is encoded with a little of what stands before, and the result compared with the encoding of whole
    prompts: the first, the longest and the last.
    """
    encode = model.encode_all  # type: ignore[attr-defined]
    if len(pairs) < 2:
        return None
    contexts = [context for context, _ in pairs]
    cut = _paragraph_cut(_common_start(min(contexts), max(contexts)))
    if not cut:
        return None
    lead = contexts[0][max(0, cut - OVERLAP) : cut]
    rests = [(context[cut:], continuation) for context, continuation in pairs]
    # Encoded twice, split at the cut and at the continuation: where the prompt's own tokens begin, and what is scored.
    by_cut = encode([(lead, rest + continuation) for rest, continuation in rests], "never", "offsets")
    by_continuation = encode([(lead + rest, continuation) for rest, continuation in rests], "never", "offsets")
    (whole,) = encode([(contexts[0][:cut], contexts[0][cut:] + pairs[0][1])], bos, "offsets")
    if whole.straddles or any(head.straddles for head in by_cut):
        return None
    prefix = whole.ids[: whole.start]
    tails = [
        Encoding(head.ids[head.start :], other.start - head.start, 0, other.straddles)
        for head, other in zip(by_cut, by_continuation, strict=True)
    ]
    if any(tail.start < 1 for tail in tails):
        return None
    checked = sorted({0, len(pairs) - 1, max(range(len(pairs)), key=lambda i: len(contexts[i]))})[:CHECKED]
    for i, head in zip(checked, encode([pairs[i] for i in checked], bos, "offsets"), strict=True):
        if head.ids != prefix + tails[i].ids or head.start != len(prefix) + tails[i].start:
            return None
    return prefix, tails


def _common_start(first: str, last: str) -> str:
    """What two texts begin with; of the first and the last of sorted texts, what all of them do."""
    low, high = 0, min(len(first), len(last))
    while low < high:
        middle = (low + high + 1) // 2
        if first.startswith(last[:middle]):
            low = middle
        else:
            high = middle - 1
    return first[:low]


def _paragraph_cut(common: str) -> int:
    """The place after the last paragraph break in a text that something but white space follows; 0 for none."""
    place = common.rstrip().rfind(BREAK)
    while place >= 0 and common[place + len(BREAK)].isspace():
        place = common.rfind(BREAK, 0, place)
    return place + len(BREAK) if place >= 0 else 0


def _progress_in_requests(progress: Progress | None, requests: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, rows: progress(requests * done // max(rows, 1), requests)
