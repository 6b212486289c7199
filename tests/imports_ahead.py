"""Imported by the process that tests/forked.py forks others from: what a worker imports before its first score."""

import transformers.modeling_utils
import transformers.models.auto.modeling_auto
import transformers.models.llama.modeling_llama  # noqa: F401

from explorer import __main__, resources  # noqa: F401
from explorer.runs import worker  # noqa: F401
from explorer.scoring import hf, hf_direct, hf_tokenizer, model_process_child, tokenizer_child  # noqa: F401
from tests import forked  # noqa: F401

hf_tokenizer.import_ahead()
