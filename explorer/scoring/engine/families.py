"""Models of the commonest families from their weights alone: what transformers computes, without importing it.

    gpt_neox   Pythia, GPT-NeoX    attention and feed-forward side by side, layer norms, half-rotated heads
    llama      Llama, SmolLM, ...  one after the other, RMS norms, gated feed-forward, shared keys
    gemma3     Gemma 3 (text)      as Llama; norms behind each part, too, and most layers look back a window only

A process that scores has a model 5 to 9 seconds sooner for it (bench/RESULTS.md). Every product, sum and rounding is
made in the order of transformers' own code, so that the numbers are the same; tests compare the two. (Gemma's norms in
float32 are the one exception: one kernel in place of six, equal but for the last bit.) What a family's configuration
can ask for besides is not built here: `read_shape` then gives None, and transformers loads the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

FULL, SLIDING = "full_attention", "sliding_attention"  # kinds of layers: see everything before, or a window of it

# Settings that decide nothing of a score: what training used, what generation begins with, what wrote the file.
IGNORED_SETTINGS = frozenset({
    "_name_or_path", "architectures", "attention_dropout", "bos_token_id", "cache_implementation",
    "classifier_dropout", "dtype",
    "eos_token_id", "hidden_dropout", "initializer_range", "is_decoder", "is_llama_config", "model_type",
    "pad_token_id", "pretraining_tp", "rope_interleaved", "torch_dtype", "transformers.js_config",
    "transformers_version", "use_cache",
})  # fmt: skip
ROPE = frozenset({"rope_theta", "partial_rotary_factor", "rope_type"})
ROPE_STRETCH = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
ROPE_OF_OLD = {"gpt_neox": ("rotary_emb_base", "rotary_pct", 0.25), "llama": ("rope_theta", "", 1.0)}
# Gemma 3 turns positions at another pace in layers that look back a window than in those that see everything.
GEMMA_ROPE_OF_OLD = {FULL: ("rope_theta", 1_000_000.0), SLIDING: ("rope_local_base_freq", 10_000.0)}
NOT_BUILT = ("use_bidirectional_attention", "attn_logit_softcapping", "final_logit_softcapping")  # but may be off
MOST_LAYERS = 10_000  # else a line of text could ask for billions
GEMMA_PATTERN = ("_sliding_window_pattern", "sliding_window_pattern")  # every how many layers one sees everything
# What else a configuration may say, and what it means where it does not say it.
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "gpt_neox": {
        "vocab_size": 50432, "hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64,
        "intermediate_size": 24576, "hidden_act": "gelu", "max_position_embeddings": 2048, "layer_norm_eps": 1e-5,
        "tie_word_embeddings": False, "use_parallel_residual": True, "attention_bias": True,
    },
    "llama": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "intermediate_size": 11008, "hidden_act": "silu", "max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False, "num_key_value_heads": None, "head_dim": None, "attention_bias": False,
        "mlp_bias": False,
    },
    "gemma3_text": {
        "vocab_size": 262208, "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8,
        "intermediate_size": 9216, "hidden_act": "gelu_pytorch_tanh", "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-6, "tie_word_embeddings": True, "num_key_value_heads": 4, "head_dim": 256,
        "attention_bias": False, "query_pre_attn_scalar": 256, "sliding_window": 4096,
    },
}  # fmt: skip
HEADS = {"gpt_neox": "GPTNeoXForCausalLM", "llama": "LlamaForCausalLM", "gemma3_text": "Gemma3ForCausalLM"}
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu, "silu": functional.silu, "gelu_pytorch_tanh": partial(functional.gelu, approximate="tanh"),
}  # fmt: skip

Rotation = tuple[Tensor, Tensor]  # cosines and sines, (rows, tokens, half of the rotated width) each
Attend = Callable[..., Tensor]  # as `attend`


class Cache(Protocol):
    """What was read before, to which the layers' queries attend, too."""

    def attend(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scale: float | None = None
    ) -> Tensor:
        """As the function of this name, for the layer of this number; the keys and values are kept."""


class Shape(SimpleNamespace):
    """A model's configuration, with the names that transformers uses."""

    def get_text_config(self) -> Shape:
        """Itself: the model reads nothing but text."""
        return self


def read_shape(config: Any) -> Shape | None:
    """The shape that a config.json describes, or None where it asks for anything that is not built here."""
    family = str(config.get("model_type")) if isinstance(config, Mapping) else ""
    if family not in SHAPES or config.get("architectures") != [HEADS[family]]:
        return None
    settings = {name: value for name, value in config.items() if value is not None}
    taken = _take_gemma(settings) if family == "gemma3_text" else _take_rope(settings, family)
    if taken is None or set(settings) - set(SHAPES[family]) - IGNORED_SETTINGS:
        return None
    shape = Shape(
        **{**SHAPES[family], **{name: settings[name] for name in SHAPES[family] if name in settings}, **taken}
    )
    shape.model_type, shape._attn_implementation = family, "sdpa"
    if shape.hidden_act not in ACTIVATIONS:
        return None
    if family == "gpt_neox":
        return shape
    if shape.rotated != 1:
        return None
    shape.num_key_value_heads = shape.num_key_value_heads or shape.num_attention_heads
    shape.head_dim = shape.head_dim or shape.hidden_size // shape.num_attention_heads
    kinds = getattr(shape, "layer_types", [])
    if family == "gemma3_text" and (len(kinds) != shape.num_hidden_layers or set(kinds) - {FULL, SLIDING}):
        return None
    return shape


def _take_gemma(given: dict[str, Any]) -> dict[str, Any] | None:
    """What only a configuration of Gemma 3 says, taken out of it; None where it asks for what is not built here."""
    if any(given.pop(name, None) for name in NOT_BUILT):
        return None
    every = next((int(given.pop(name)) for name in reversed(GEMMA_PATTERN) if name in given), 6)
    for name in GEMMA_PATTERN:
        given.pop(name, None)
    rope = _take_gemma_rope(given)
    layers = int(given.get("num_hidden_layers", SHAPES["gemma3_text"]["num_hidden_layers"]))
    if rope is None or layers > MOST_LAYERS:
        return None
    kinds = given.pop("layer_types", None) or [SLIDING if n % every else FULL for n in range(1, layers + 1)]
    activation = given.pop("hidden_activation", SHAPES["gemma3_text"]["hidden_act"])
    return {**rope, "layer_types": kinds, "hidden_act": activation}


def _take_rope(given: dict[str, Any], family: str) -> dict[str, Any] | None:
    """What a configuration says of rotation, taken out of it; None where it asks for what is not built here."""
    base, part, whole = ROPE_OF_OLD[family]
    # Files of old say it in three places.
    rope = {"rope_theta": given.pop(base, 10_000.0), "partial_rotary_factor": given.pop(part, whole)}
    new, scaling = given.pop("rope_parameters", None), given.pop("rope_scaling", None)
    rope |= scaling or new or {}
    kind = rope.pop("type", None) or "default"
    kind = rope.get("rope_type") or kind
    if kind not in ("default", "llama3") or set(rope) - ROPE - set(ROPE_STRETCH if kind == "llama3" else ()):
        return None
    stretch = tuple(float(rope[name]) for name in ROPE_STRETCH) if kind == "llama3" else ()
    return {
        "rope_theta": {FULL: float(rope["rope_theta"])},
        "rotated": float(rope["partial_rotary_factor"]),
        "stretch": stretch,
    }


def _take_gemma_rope(given: dict[str, Any]) -> dict[str, Any] | None:
    """As `_take_rope`, for Gemma 3, whose two kinds of layers turn at two paces."""
    if given.pop("rope_scaling", None):  # of the larger models, for windows longer than in training
        return None
    by_kind = given.pop("rope_parameters", {})
    bases = {}
    for kind, (old_name, usual) in GEMMA_ROPE_OF_OLD.items():
        of_layers = by_kind.get(kind) or {}
        old = given.pop(old_name, usual)
        if set(of_layers) - {"rope_theta", "rope_type"} or of_layers.get("rope_type", "default") != "default":
            return None
        bases[kind] = float(of_layers.get("rope_theta", old))
    if set(by_kind) - set(bases):
        return None
    return {"rope_theta": bases, "rotated": 1.0, "stretch": ()}


def rotate(heads: Tensor, rotation: Rotation) -> None:
    """Turns pairs of numbers of heads, (rows, tokens, ..., rotated width), by the token's place; where they stand."""
    cosine, sine = (each.view(*each.shape[:2], *(1,) * (heads.dim() - 3), -1) for each in rotation)
    first, second = heads.chunk(2, dim=-1)
    turned = first * cosine - second * sine
    second.copy_(second * cosine + first * sine)
    first.copy_(turned)


def stretch_frequencies(frequencies: Tensor, factor: float, low: float, high: float, window: float) -> Tensor:
    """Frequencies of a window that was made longer after training, as Llama 3.1 has them.

    One that turns fewer than `low` times within the old window is divided by `factor`, one that turns more than `high`
    times stays, and those between go from one to the other.
    """
    turns = window / (2 * math.pi / frequencies)
    stays = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - stays) * frequencies / factor + stays * frequencies


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Any, scale: float | None = None) -> Tensor:
    """Attention of (rows, heads, tokens, width): causal, or by a dense mask.

    Gives (rows, tokens, heads * width). Keys may be shared by several heads of the query. Products are multiplied by
    `scale`, as usual one over the root of the width.
    """
    shared = query.shape[1] // key.shape[1]
    # Kernels that share keys themselves take no mask, as of PyTorch 2.13.
    in_kernel = shared > 1 and mask is None and key.shape[-1] <= 256
    if shared > 1 and not in_kernel:
        key, value = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
    causal = mask is None and query.shape[2] > 1
    attended = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=causal, enable_gqa=in_kernel, scale=scale
    )
    return attended.transpose(1, 2).flatten(2)


# PyTorch's own layers draw random weights when they are made. Without numbers (on the device "meta") they are made at
# once, but that imports its compiler: 3 to 5 seconds on a GPU machine, more than reading the weights takes.
class Weights(nn.Module):
    """A part of a model with weights of its own, None until they are read; `shapes` says which."""

    weight: Tensor
    bias: Tensor | None

    def __init__(self, *, bias: tuple[int, ...] | None = None, weight: tuple[int, ...]) -> None:
        super().__init__()
        self.shapes = {"weight": weight, **({"bias": bias} if bias else {})}
        self.register_buffer("weight", None)
        self.register_buffer("bias", None)


class Linear(Weights):
    """A product with a matrix of (out, in)."""

    def __init__(self, width: int, out: int, *, bias: bool = True) -> None:
        super().__init__(weight=(out, width), bias=(out,) if bias else None)

    def forward(self, hidden: Tensor) -> Tensor:
        """(..., in) to (..., out)."""
        return functional.linear(hidden, self.weight, self.bias)


class Embedding(Weights):
    """A row of numbers for each token."""

    def forward(self, ids: Tensor) -> Tensor:
        """(rows, tokens) to (rows, tokens, width)."""
        return functional.embedding(ids, self.weight)


class LayerNorm(Weights):
    """Mean 0 and variance 1, then a gain and a shift."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__(weight=(width,), bias=(width,))
        self.eps = eps

    def forward(self, hidden: Tensor) -> Tensor:
        """Of the same shape and dtype."""
        return functional.layer_norm(hidden, hidden.shape[-1:], self.weight, self.bias, self.eps)


class RMSNorm(Weights):
    """Divides by the root of the mean square, reckoned in float32; the gain is multiplied in the model's dtype."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__(weight=(width,))
        self.eps = eps

    def forward(self, hidden: Tensor) -> Tensor:
        """Of the same shape and dtype."""
        wide = hidden.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(hidden.dtype)


class GemmaNorm(RMSNorm):
    """As `RMSNorm`, with a gain that is given less one and multiplied in float32."""

    def forward(self, hidden: Tensor) -> Tensor:
        """Of the same shape and dtype."""
        gain = 1.0 + self.weight.float()
        if hidden.dtype == torch.float32:
            return functional.rms_norm(hidden, hidden.shape[-1:], gain, self.eps)
        wide = hidden.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * gain).to(hidden.dtype)


class NeoXLayer(nn.Module):
    """A layer of GPT-NeoX."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, inner, eps = shape.hidden_size, shape.intermediate_size, shape.layer_norm_eps
        self.heads, self.beside = shape.num_attention_heads, shape.use_parallel_residual
        self.rotated = int(width // self.heads * shape.rotated)
        self.activation = ACTIVATIONS[shape.hidden_act]
        self.input_layernorm = LayerNorm(width, eps)
        self.post_attention_layernorm = LayerNorm(width, eps)
        self.attention = nn.ModuleDict(
            {
                "query_key_value": Linear(width, 3 * width, bias=shape.attention_bias),
                "dense": Linear(width, width, bias=shape.attention_bias),
            }
        )
        self.mlp = nn.ModuleDict({"dense_h_to_4h": Linear(width, inner), "dense_4h_to_h": Linear(inner, width)})

    def forward(self, hidden: Tensor, mask: Any, rotation: Rotation, attend: Attend = attend) -> Tensor:
        """The next layer's input, (rows, tokens, width)."""
        projected = self.attention["query_key_value"](self.input_layernorm(hidden))
        # Each head has its query, key and value side by side; the first two are rotated at once.
        heads = projected.unflatten(-1, (self.heads, 3, -1))
        rotate(heads[..., :2, : self.rotated], rotation)
        query, key, value = heads.permute(3, 0, 2, 1, 4).unbind(0)
        attended = self.attention["dense"](attend(query, key, value, mask))
        if self.beside:
            return self._feed(self.post_attention_layernorm(hidden)) + attended + hidden
        attended = attended + hidden
        return self._feed(self.post_attention_layernorm(attended)) + attended

    def _feed(self, hidden: Tensor) -> Tensor:
        return self.mlp["dense_4h_to_h"](self.activation(self.mlp["dense_h_to_4h"](hidden)))  # type: ignore[no-any-return]


class LlamaLayer(nn.Module):
    """A layer of Llama."""

    norm: type[RMSNorm] = RMSNorm

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, inner, size = shape.hidden_size, shape.intermediate_size, shape.head_dim
        wide, narrow, bias = shape.num_attention_heads * size, shape.num_key_value_heads * size, shape.attention_bias
        mlp_bias = getattr(shape, "mlp_bias", False)
        self.size = size
        self.activation = ACTIVATIONS[shape.hidden_act]
        self.input_layernorm = self.norm(width, shape.rms_norm_eps)
        self.post_attention_layernorm = self.norm(width, shape.rms_norm_eps)
        self.self_attn = nn.ModuleDict(
            {
                "q_proj": Linear(width, wide, bias=bias),
                "k_proj": Linear(width, narrow, bias=bias),
                "v_proj": Linear(width, narrow, bias=bias),
                "o_proj": Linear(wide, width, bias=bias),
            }
        )
        self.mlp = nn.ModuleDict(
            {
                "gate_proj": Linear(width, inner, bias=mlp_bias),
                "up_proj": Linear(width, inner, bias=mlp_bias),
                "down_proj": Linear(inner, width, bias=mlp_bias),
            }
        )

    def forward(self, hidden: Tensor, mask: Any, rotation: Rotation, attend: Attend = attend) -> Tensor:
        """The next layer's input, (rows, tokens, width)."""
        query, key, value = self._project(self.input_layernorm(hidden))
        rotate(query, rotation)
        rotate(key, rotation)
        attended = attend(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), mask)
        hidden = hidden + self.self_attn["o_proj"](attended)
        return hidden + self._feed(self.post_attention_layernorm(hidden))

    def _project(self, normed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value, (rows, tokens, heads, width of a head) each."""
        query, key, value = (
            self.self_attn[name](normed).unflatten(-1, (-1, self.size)) for name in ("q_proj", "k_proj", "v_proj")
        )
        return query, key, value

    def _feed(self, normed: Tensor) -> Tensor:
        gated = self.activation(self.mlp["gate_proj"](normed)) * self.mlp["up_proj"](normed)
        return self.mlp["down_proj"](gated)  # type: ignore[no-any-return]


class GemmaLayer(LlamaLayer):
    """A layer of Gemma 3: what each part gives is normed, too, and so are the heads of query and key."""

    norm = GemmaNorm

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.scale = shape.query_pre_attn_scalar**-0.5
        self.pre_feedforward_layernorm = GemmaNorm(shape.hidden_size, shape.rms_norm_eps)
        self.post_feedforward_layernorm = GemmaNorm(shape.hidden_size, shape.rms_norm_eps)
        for name in ("q_norm", "k_norm"):
            self.self_attn[name] = GemmaNorm(shape.head_dim, shape.rms_norm_eps)

    def forward(self, hidden: Tensor, mask: Any, rotation: Rotation, attend: Attend = attend) -> Tensor:
        """The next layer's input, (rows, tokens, width)."""
        query, key, value = self._project(self.input_layernorm(hidden))
        query, key = self.self_attn["q_norm"](query), self.self_attn["k_norm"](key)
        rotate(query, rotation)
        rotate(key, rotation)
        attended = attend(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), mask, self.scale)
        hidden = hidden + self.post_attention_layernorm(self.self_attn["o_proj"](attended))
        return hidden + self.post_feedforward_layernorm(self._feed(self.pre_feedforward_layernorm(hidden)))


LAYERS: Mapping[str, type[nn.Module]] = {"gpt_neox": NeoXLayer, "llama": LlamaLayer, "gemma3_text": GemmaLayer}


class Trunk(nn.Module):
    """A model without its output layer: embeddings, layers and a last norm."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, layer = shape.hidden_size, LAYERS[shape.model_type]
        self.shape = shape
        self.embedding = Embedding(weight=(shape.vocab_size, width))
        self.layers = nn.ModuleList(layer(shape) for _ in range(shape.num_hidden_layers))
        self.kinds: list[str] = getattr(shape, "layer_types", None) or [FULL] * shape.num_hidden_layers
        if shape.model_type == "gpt_neox":
            self.norm: nn.Module = LayerNorm(width, shape.layer_norm_eps)
        else:
            self.norm = (GemmaNorm if shape.model_type == "gemma3_text" else RMSNorm)(width, shape.rms_norm_eps)
        self.frequencies: dict[str, Tensor] = {}  # by kind of layer
        self.scale: Tensor | None = None  # of the embeddings
        self.devices: list[torch.device] = []  # of the layers

    def place(self) -> None:
        """Makes what is no weight, once the weights are there."""
        shape, device = self.shape, self.embedding.weight.device
        self.devices = [layer.get_buffer("input_layernorm.weight").device for layer in self.layers]
        size = int(getattr(shape, "head_dim", shape.hidden_size // shape.num_attention_heads) * shape.rotated)
        # Made on the processor, as transformers make them: a GPU's powers differ in the last digit.
        steps = torch.arange(0, size, 2, dtype=torch.float, device="cpu") / size
        for kind, base in shape.rope_theta.items():
            frequencies = 1.0 / (base**steps)
            self.frequencies[kind] = (
                stretch_frequencies(frequencies, *shape.stretch) if shape.stretch else frequencies
            ).to(device)
        if shape.model_type == "gemma3_text":
            # Rounded to the weights' dtype, as in training: of a width of 3,072 bfloat16 makes 55.5 of 55.4.
            self.scale = torch.tensor(shape.hidden_size**0.5).to(device, self.embedding.weight.dtype)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Any = None,
        position_ids: Tensor | None = None,
        use_cache: bool = False,
        cache: Cache | None = None,
    ) -> SimpleNamespace:
        """The last hidden states, (rows, tokens, width).

        `attention_mask` is a finished one, or a dictionary of one for each kind of layer; none for causal. A `cache`
        holds what stands before these tokens; it attends in the place of the layers, by a mask of truth values.
        """
        hidden = self.embedding(input_ids)
        if self.scale is not None:
            hidden = hidden * self.scale
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1], device=hidden.device)[None]
        used = set(self.kinds)
        rotations = {kind: self._rotation(kind, position_ids, hidden.dtype) for kind in used}
        by_kind = attention_mask if isinstance(attention_mask, dict) else dict.fromkeys(used, attention_mask)
        if attention_mask is None and SLIDING in used and input_ids.shape[1] > self.shape.sliding_window:
            back = position_ids[:, None, :, None] - position_ids[:, None, None, :]
            by_kind[SLIDING] = (back >= 0) & (back < self.shape.sliding_window)
        masks = by_kind if cache else {kind: _additive(mask, hidden) for kind, mask in by_kind.items()}
        # With layers on several cards, each card works on a batch of its own: the calls for the next batch are queued
        # on the first while the last is still under way on the others.
        for number, (kind, layer, device) in enumerate(zip(self.kinds, self.layers, self.devices, strict=True)):
            if hidden.device != device:
                hidden, masks, rotations = (_moved(each, device) for each in (hidden, masks, rotations))
            over = partial(cache.attend, number) if cache else attend
            hidden = layer(hidden, masks[kind], rotations[kind], over)
        return SimpleNamespace(last_hidden_state=self.norm(hidden))

    def _rotation(self, kind: str, positions: Tensor, dtype: torch.dtype) -> Rotation:
        angles = positions[:, :, None].float() * self.frequencies[kind]
        return angles.cos().to(dtype), angles.sin().to(dtype)


def _moved(value: Any, device: torch.device) -> Any:
    """A tensor, or tuples and dictionaries of such, on the device."""
    if isinstance(value, Tensor):
        return value.to(device, non_blocking=True)
    if isinstance(value, dict):
        return {name: _moved(each, device) for name, each in value.items()}
    return tuple(_moved(each, device) for each in value) if isinstance(value, tuple) else value


def _additive(mask: Any, hidden: Tensor) -> Any:
    """A mask of truth values as what is added to products: what each layer's attention would else make of it anew."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        return mask
    added = torch.zeros(mask.shape, dtype=hidden.dtype, device=hidden.device)
    return added.masked_fill_(~mask, -torch.inf)


class CausalModel(nn.Module):
    """A causal language model with the parts of transformers' interface that RowRunner asks for."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.config = shape
        self.base_model = Trunk(shape)
        self.head = Linear(shape.hidden_size, shape.vocab_size, bias=False)

    @property
    def device(self) -> torch.device:
        """Where token ids are read."""
        return self.base_model.embedding.weight.device

    @property
    def cards(self) -> int:
        """How many devices the weights are on."""
        return len({*self.base_model.devices, self.device, self.head.weight.device})

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights."""
        return self.head.weight.dtype

    def shapes_of_weights(self) -> dict[str, tuple[int, ...]]:
        """What is to be read: the shape of each weight by its name here."""
        parts = [(name, part) for name, part in self.named_modules() if isinstance(part, Weights)]
        return {f"{name}.{weight}": shape for name, part in parts for weight, shape in part.shapes.items()}

    def put(self, weights: Mapping[str, Tensor]) -> None:
        """Takes the weights over, all of them, on the devices that they are on."""
        for name, tensor in weights.items():
            part, _, weight = name.rpartition(".")
            setattr(self.get_submodule(part), weight, tensor)
        self.base_model.place()

    def get_output_embeddings(self) -> Linear:
        """The output layer."""
        return self.head

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, use_cache: bool = False
    ) -> SimpleNamespace:
        """Logits of (rows, tokens, words). A mask of padding on the right needs nothing: no token looks there."""
        return SimpleNamespace(logits=self.head(self.base_model(input_ids).last_hidden_state))


# Where a checkpoint keeps what, and what of an old one is no weight.
PREFIX = {"gpt_neox": "gpt_neox.", "llama": "model.", "gemma3_text": "model."}
WEIGHT_NAMES = {
    "embed_in.": "embedding.", "embed_tokens.": "embedding.", "final_layer_norm.": "norm.", "norm.": "norm.",
}  # fmt: skip
OUTPUT = ("embed_out.weight", "lm_head.weight")
NOT_WEIGHTS = (".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq")


def device_of(place: str, layers: int, devices: Sequence[torch.device]) -> torch.device:
    """Where the weight of this place goes: the layers in turn, equally many on each device; the output on the last."""
    inside = place.removeprefix("base_model.")
    if inside.startswith("layers."):
        return devices[int(inside.split(".")[1]) * len(devices) // layers]
    return devices[0] if inside.startswith("embedding.") else devices[-1]


def place_of(name: str, family: str) -> str:
    """Where the weight of this name goes in a `CausalModel`; "" for what is no weight."""
    if name.endswith(NOT_WEIGHTS):
        return ""
    if name in OUTPUT:
        return "head.weight"
    inside = name.removeprefix(PREFIX[family])
    if inside == name:
        return name  # fits nowhere
    return "base_model." + next(
        (new + inside.removeprefix(old) for old, new in WEIGHT_NAMES.items() if inside.startswith(old)), inside
    )
