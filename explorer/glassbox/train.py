"""Training a glass-box model: plain PyTorch, one file, the same on every machine as far as the device allows.

    train(encode(corpus, WINDOW), plan, folder)    weights in `folder`, after 1, 2, 4, ... steps in `folder@stepN`

The tokens of all documents stand one after another, an end-of-text mark between them, and are cut into windows; each
epoch sees every window once, in an order that follows from the seed. A training that was stopped goes on where its
last kept state was.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from explorer import sharing
from explorer.glassbox import sizes, tokenizer
from explorer.glassbox.sizes import BATCH, EPOCHS, SEED, WINDOW, Size
from explorer.popularity.documents import SourceDocument

STATE = "training.pt"  # what a stopped training goes on from
RECORD = "glassbox.json"
KEEP_EVERY = 120.0  # seconds
WARM_UP = 0.05  # of the steps
LEAST = 0.1  # of the highest learning rate, at the end
# Windows whose gradients are reckoned at once. On a processor few: the scores of a whole batch over the vocabulary are
# 270 MB, which leave its cache (a sixth of the time).
PART = {"cpu": 2}

Progress = Callable[[int, int, float], None]  # steps done, steps in all, loss in nats a token


@dataclass(frozen=True, slots=True)
class Plan:
    """How a model is trained."""

    size: Size
    epochs: int = EPOCHS
    batch: int = BATCH
    window: int = WINDOW
    seed: int = SEED

    def steps(self, windows: int) -> int:
        """Steps in all; what is left over of an epoch goes into the next."""
        return windows * self.epochs // self.batch


def train(
    windows: np.ndarray,
    plan: Plan,
    folder: Path,
    *,
    corpus_hash: str,
    device: str = "",
    progress: Progress | None = None,
) -> Path:
    """Trains a model on `encode`d windows and keeps its weights in half precision in `folder`, on the way in others.

    Raises FileExistsError where `folder` holds a model that is whole already.
    """
    if (folder / RECORD).exists():
        raise FileExistsError(f"{folder} holds a trained model already. Delete it, or choose another folder.")
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    total = plan.steps(len(windows))
    kept = {step: folder if step == total else at_step(folder, step) for step in sizes.checkpoint_steps(total)}
    torch.manual_seed(plan.seed)
    config = LlamaConfig(vocab_size=tokenizer.VOCABULARY, **plan.size.config())
    model: Any = LlamaForCausalLM(config)
    model.to(device)
    optimizer = torch.optim.AdamW(_groups(model), lr=plan.size.rate, betas=(0.9, 0.95))
    about = {"corpus": corpus_hash, "size": plan.size.name, "epochs": plan.epochs, "seed": plan.seed, "steps": total}
    step, losses = _resume(folder, model, optimizer, about)
    order = epoch_order(len(windows), plan)
    saved = time.monotonic()
    while True:
        if step in kept and not (kept[step] / RECORD).exists():
            _save(kept[step], model, {**about, "step": step, "tokens": step * plan.batch * plan.window,
                                      "losses": losses if step == total else []})  # fmt: skip
        if step == total:
            break
        rows = windows[order[step * plan.batch : (step + 1) * plan.batch]]
        loss = _step(model, optimizer, rows, rate(step, total, plan.size.rate), device)
        step += 1
        losses.append(round(loss, 4))
        if progress:
            progress(step, total, loss)
        if time.monotonic() - saved > KEEP_EVERY:
            _keep_state(folder, model, optimizer, about, step, losses)
            saved = time.monotonic()
    _state_of(folder).unlink(missing_ok=True)
    return folder


def encode(corpus: Sequence[SourceDocument], window: int) -> np.ndarray:
    """The corpus as windows of token ids, shape (windows, window + 1): each window's last token begins the next."""
    ids = tokenizer.load()
    stream: list[np.ndarray] = []
    for first in range(0, len(corpus), 256):
        for encoded in ids.encode_verbatim([document.text for document in corpus[first : first + 256]]):
            stream.append(np.asarray((0, *encoded), dtype=np.uint16))
    tokens = np.concatenate(stream)
    count = (len(tokens) - 1) // window
    starts = np.arange(count)[:, None] * window
    return tokens[starts + np.arange(window + 1)[None, :]]


def epoch_order(windows: int, plan: Plan) -> np.ndarray:
    """Which window stands at which place of the whole training: every window once an epoch."""
    shuffles = [
        np.random.Generator(np.random.PCG64((plan.seed, epoch))).permutation(windows) for epoch in range(plan.epochs)
    ]
    return np.concatenate(shuffles)


def rate(step: int, total: int, highest: float) -> float:
    """The learning rate of a step: up in a line, then down along a cosine to a tenth."""
    warm = max(1, round(WARM_UP * total))
    if step < warm:
        return highest * (step + 1) / warm
    done = (step - warm) / max(1, total - warm)
    return highest * (LEAST + (1 - LEAST) * 0.5 * (1 + math.cos(math.pi * done)))


def at_step(folder: Path, step: int) -> Path:
    """The folder of the weights after so many steps."""
    return folder.with_name(f"{folder.name}@step{step}")


def _step(model: Any, optimizer: Any, rows: np.ndarray, learning_rate: float, device: str) -> float:
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    optimizer.zero_grad(set_to_none=True)
    whole = 0.0
    for part in torch.from_numpy(rows.astype(np.int64)).to(device).split(PART.get(device, len(rows))):
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logits = model(input_ids=part[:, :-1], use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), part[:, 1:].flatten())
        # Windows are equally long, so the mean over the batch is the mean over its parts, each by its share of windows.
        loss = loss * (len(part) / len(rows))
        loss.backward()
        whole += float(loss.detach())
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return whole


def _groups(model: Any) -> list[dict[str, Any]]:
    """Matrices decay, gains do not."""
    parameters = list(model.parameters())
    return [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": 0.1},
        {"params": [one for one in parameters if one.ndim == 1], "weight_decay": 0.0},
    ]


def _save(folder: Path, model: Any, about: dict[str, Any]) -> None:
    """A folder as transformers writes it, in half precision, whole or not there."""
    part = sharing.beside(folder)
    part.mkdir(parents=True)
    half = LlamaForCausalLM(model.config).half()
    half.load_state_dict({name: value.half().cpu() for name, value in model.state_dict().items()})
    transformers.utils.logging.disable_progress_bar()  # a bar for two megabytes
    half.save_pretrained(part)
    fast = tokenizer_files(part)
    fast.save_pretrained(part)
    (part / RECORD).write_text(json.dumps(about) + "\n", encoding="utf-8")
    sharing.share_files(part)
    os.replace(part, folder)


def tokenizer_files(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer as transformers uses it."""
    file = folder / "tokenizer.json"
    file.write_text(tokenizer.as_json(tokenizer.read_merges()), encoding="utf-8")
    return PreTrainedTokenizerFast(
        tokenizer_file=str(file), bos_token=tokenizer.END, eos_token=tokenizer.END, model_max_length=WINDOW
    )


def _state_of(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.{STATE}")


def _keep_state(
    folder: Path, model: Any, optimizer: Any, about: dict[str, Any], step: int, losses: list[float]
) -> None:
    state = _state_of(folder)
    state.parent.mkdir(parents=True, exist_ok=True)
    part = sharing.beside(state)
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "about": about,
            "step": step,
            "losses": losses,
        },
        part,
    )
    os.replace(part, state)


def _resume(folder: Path, model: Any, optimizer: Any, about: dict[str, Any]) -> tuple[int, list[float]]:
    """The steps done and their losses, with model and optimizer as they were; 0 where nothing fits this training."""
    state = _state_of(folder)
    if not state.exists():
        return 0, []
    kept = torch.load(state, map_location="cpu", weights_only=True)
    if kept["about"] != about:
        return 0, []
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    return int(kept["step"]), list(kept["losses"])
