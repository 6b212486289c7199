"""Imported by the process that tests/forked.py forks others from: what workers and apps import before they do anything.

What is missing here each of hundreds of processes imports by itself.
"""

import gc

import nltk  # noqa: F401
import pandas  # noqa: F401
import psutil  # noqa: F401
import pyarrow.parquet  # noqa: F401
import pytest  # noqa: F401
import spacy  # noqa: F401
import streamlit.web.cli  # noqa: F401
import transformers.modeling_utils
import transformers.models.auto.modeling_auto
import transformers.models.gpt2.modeling_gpt2
import transformers.models.llama.modeling_llama  # noqa: F401
from streamlit.components.v2 import manifest_scanner
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

from explorer import __main__, benchmarks, resources, studies  # noqa: F401
from explorer.cluster import part_process  # noqa: F401
from explorer.commands import run  # noqa: F401
from explorer.results import store  # noqa: F401
from explorer.runs import run_file_fields, worker  # noqa: F401
from explorer.scoring import hf, hf_direct, hf_tokenizer, model_process_child, tokenizer_child  # noqa: F401
from tests import forked  # noqa: F401

hf_tokenizer.import_ahead()
for name in studies.STUDIES:
    studies.study(name)
# With the first weights that a process loads transformers compiles a thousand patterns of their names.
get_checkpoint_conversion_mapping("gpt2")
# An app reads what all installed packages say of themselves, a second of a processor each time it starts.
found = manifest_scanner.scan_component_manifests()
manifest_scanner.scan_component_manifests = lambda: found
# What is imported stays. A process that looked through it for garbage would copy the memory that it shares with this
# one, a third of a second each time; and a run gives everything back at its end.
gc.collect()
gc.freeze()
gc.unfreeze = lambda: None
