"""Scores of requests that begin with the same long text: that text is encoded and read once, and kept.

What k-shot prompts share, their demonstrations, is most of them. Requests are scored behind the keys and values of the
shared part, and a longer shared part goes on from a shorter one that was read before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.records import Request, Score
from explorer.scoring import hf_chat
from explorer.scoring.engine import tree as engine_tree
from explorer.scoring.generate import Ids, ModelGenerator, Stats
from explorer.scoring.model import Encoding, Progress, RowScores
from explorer.scoring.policy import PRESETS, Bos, ScoringPolicy
from explorer.scoring.score import (
    Batch,
    ModelScorer,
    PreparedRequests,
    TargetTokens,
    assemble_scores,
    why_unknown_token,
    why_unscorable,
)

if TYPE_CHECKING:
    from explorer.scoring.engine.shared_prefix import PreparedRows

BREAK = "\n\n"  # where prompts are cut: tokenizers of language models put no letter into a token with a line break
OVERLAP = 200  # characters before the cut that the own parts are encoded with
CHECKED = 3  # prompts that are also encoded as a whole


@dataclass(slots=True)
class PreparedScores:
    """Requests on their way through the scorer: packed behind what they share, or a batch of the plain scorer's."""

    requests: Sequence[Request]
    tokens: int  # of all prompts, as if each were read alone
    prefix: Ids = ()
    packed: PreparedRequests | None = None  # behind the prefix
    rows: PreparedRows | None = None
    row_scores: Sequence[RowScores] = ()  # of each row, once the model has run
    batch: Batch | None = None


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
        prepared = self.prepare(requests, policy)
        self.run(prepared, progress)
        return self.finish(prepared)

    # The same in three steps, of which only the second needs the model's device: while it scores some requests, another
    # thread may prepare the next ones and a third finish those before.
    def prepare(self, requests: Sequence[Request], policy: ScoringPolicy = PRESETS["natural"]) -> PreparedScores:
        """Requests encoded, cut where their shared beginning ends, and packed; on the processor alone."""
        from explorer.scoring.engine import shared_prefix

        requests = hf_chat.render_requests(self.model, requests) if policy.chat else requests
        reasons = [why_unscorable(request) for request in requests]
        scorable = [i for i, reason in enumerate(reasons) if not reason]
        pairs = [policy.move(requests[i].context, requests[i].continuation) for i in scorable]
        parts = split_shared_prefix(self.model, pairs, policy.bos) if policy.split == "offsets" else None
        if parts is None or not shared_prefix.can_share(self.decoder):
            return self._prepare_without_sharing(requests, pairs, policy)
        prefix, tails = parts
        if any(why_unknown_token(self.model, ids) for ids in (prefix, *(tail.ids for tail in tails))):
            return self._prepare_without_sharing(requests, pairs, policy)
        # Requests that are too long for the window get a reason each and do not stop the others.
        room = self.model.window - len(prefix) + 1  # the last token is predicted, never read
        fitting: dict[int, Encoding] = {}
        for i, tail in zip(scorable, tails, strict=True):
            if len(tail.ids) <= room:
                fitting[i] = tail
            else:
                size = len(prefix) + len(tail.ids)
                reasons[i] = f"{size:,} tokens, more than the model's window of {self.model.window:,}"
        packing = engine_tree.pack(
            [tail.ids for tail in fitting.values()],
            [tail.start for tail in fitting.values()],
            shared_prefix.row_tokens(self.decoder),
        )
        targets = {i: TargetTokens(tail.ids[tail.start :], tail.straddles, 0) for i, tail in fitting.items()}
        return PreparedScores(
            requests=requests,
            tokens=sum(len(prefix) + len(tail.ids) - 1 for tail in fitting.values()),
            prefix=prefix,
            packed=PreparedRequests(requests, reasons, targets, packing),
            rows=shared_prefix.prepare_rows(packing.rows),
        )

    def run(self, prepared: PreparedScores, progress: Progress | None = None) -> None:
        """Has the model score what was prepared."""
        self.begin(prepared, progress)()

    def begin(self, prepared: PreparedScores, progress: Progress | None = None) -> Callable[[], None]:
        """As `run`, but returns when all is queued on a GPU, if it can be; what is given waits for it."""
        from explorer.scoring.engine import shared_prefix

        self.stats.prompt_tokens += prepared.tokens
        if prepared.batch is not None:
            self.stats.read_tokens += prepared.tokens
            prepared.batch.run(progress)
            return lambda: None
        assert prepared.rows is not None
        count = len(prepared.requests)
        row_scores = shared_prefix.begin(
            self.decoder, prepared.prefix, prepared.rows, self.stats, _progress_in_requests(progress, count)
        )

        def wait() -> None:
            prepared.row_scores = row_scores()
            if progress:
                progress(count, count)

        return wait

    def finish(self, prepared: PreparedScores) -> list[Score]:
        """The scores in the order asked; on the processor alone."""
        if prepared.batch is not None:
            return prepared.batch.scores()
        assert prepared.packed is not None
        return assemble_scores(self.model, prepared.packed, prepared.row_scores)

    def _prepare_without_sharing(
        self, requests: Sequence[Request], pairs: Sequence[tuple[str, str]], policy: ScoringPolicy
    ) -> PreparedScores:
        plain = dataclasses.replace(policy, chat=False)  # rendered already
        batch = Batch(ModelScorer(self.model), requests, plain)
        batch.prepare()
        tokens = sum(len(encoding.ids) - 1 for encoding in self.model.encode_all(pairs, policy.bos, policy.split))
        return PreparedScores(requests, tokens, batch=batch)


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
    by_continuation = encode([(lead + rest, continuation) for rest, continuation in rests], "never", "offsets")
    # Where the first prompt's own tokens begin, and so those of all that begin with the same ones: equal tokens are
    # equal texts. Only the others are encoded once more, split at the cut.
    (head,) = encode([(lead, "".join(rests[0]))], "never", "offsets")
    lead_ids = head.ids[: head.start]
    others = [i for i, each in enumerate(by_continuation) if each.ids[: len(lead_ids)] != lead_ids]
    heads = dict(zip(others, encode([(lead, "".join(rests[i])) for i in others], "never", "offsets"), strict=True))
    (whole,) = encode([(contexts[0][:cut], contexts[0][cut:] + pairs[0][1])], bos, "offsets")
    if whole.straddles or head.straddles or any(other.straddles for other in heads.values()):
        return None
    prefix = whole.ids[: whole.start]
    own_starts = [heads[i].start if i in heads else len(lead_ids) for i in range(len(pairs))]
    tails = [
        Encoding(each.ids[own:], each.start - own, 0, each.straddles)
        for each, own in zip(by_continuation, own_starts, strict=True)
    ]
    if any(tail.start < 1 for tail in tails):
        return None
    checked = sorted({0, len(pairs) - 1, max(range(len(pairs)), key=lambda i: len(contexts[i]))})[:CHECKED]
    for i, full in zip(checked, encode([pairs[i] for i in checked], bos, "offsets"), strict=True):
        if full.ids != prefix + tails[i].ids or full.start != len(prefix) + tails[i].start:
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
