"""The reference: one request at a time, nothing shared, nothing of the explorer. Only torch and transformers."""

from __future__ import annotations

import torch


def score_ids(model, ids, start):
    """Log-probabilities in nats of ids[start:], each given all before it, and whether each is the argmax."""
    predicted = ids[max(start, 1) :]
    if not predicted:
        return [], []
    with torch.no_grad():  # the last token is predicted and not read
        logits = model(torch.tensor([ids[:-1]]), logits_to_keep=len(predicted)).logits[0].float()
    found, greedy = [], []
    for token, row in zip(predicted, logits, strict=True):
        logprobs = torch.log_softmax(row, dim=-1)
        found.append(logprobs[token].item())
        greedy.append(int(logprobs.argmax()) == token)
    return found, greedy


def encode(tokenizer, context, continuation, plain_bos=None):
    """Token ids and where the continuation starts, as the rules have it under the `auto` BOS policy."""
    kept = context.rstrip(" ")
    text = kept + context[len(kept) :] + continuation
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids = list(found["input_ids"])
    # Blanks may be trimmed off the front of a token's offsets; its end is what counts.
    start = next((i for i, (_, end) in enumerate(found["offset_mapping"]) if end > len(kept)), len(ids)) if kept else 0
    whole = list(tokenizer(text)["input_ids"])
    front = whole[: len(whole) - len(ids)] if whole != ids else []
    if not kept and not front:
        bos = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        front = [bos if plain_bos is None else plain_bos]
    elif not kept and plain_bos is not None:
        front = [plain_bos]
    return front + ids, len(front) + start


def score(model, tokenizer, context, continuation, plain_bos=None):
    """Log-probabilities of a continuation's tokens and whether all are greedy."""
    found, greedy = score_ids(model, *encode(tokenizer, context, continuation, plain_bos))
    return found, all(greedy)
