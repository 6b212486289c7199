"""The models: which are on this machine, which fit, and a button that prepares one that is not here yet."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from explorer.scoring import catalog, embedded
from explorer.scoring.catalog import KnownModel
from explorer.scoring.engine.memory import free_ram
from explorer.ui import inventory, jobs, resources, show
from explorer.ui.columns import number_column, size_column, text_column

GB = 1e9


def draw_model_list() -> None:
    """The embedded models with their terms, then the catalog."""
    jobs.draw_jobs()
    for column, model in zip(st.columns(len(catalog.EMBEDDED_MODELS)), catalog.EMBEDDED_MODELS, strict=True):
        with column, st.container(border=True, height="stretch"):
            _card(model)
    st.subheader("Other models", anchor=False)
    memory = free_ram()
    free = f" This machine has {memory / GB:.0f} GB of memory free." if memory else ""
    show.lead(
        "Any Hugging Face id or local folder of a causal model in safetensors can be typed into Model in the sidebar; "
        f"it is downloaded when it is first used.{free}"
    )
    show.table(
        pd.DataFrame(
            {
                "model": [model.id for model in inventory.models() if not model.embedded],
                "parameters": [model.parameters for model in inventory.models() if not model.embedded],
                "memory": [model.parameters * 4 / GB for model in inventory.models() if not model.embedded],
                "corpus": [model.corpus for model in inventory.models() if not model.embedded],
                "license": [model.license for model in inventory.models() if not model.embedded],
            }
        ),
        "models",
        columns={
            "model": "Model",
            "parameters": size_column("Parameters"),
            "memory": number_column("Memory in float32 (GB)", 1),
            "corpus": text_column("Trained on", width="large"),
            "license": "License",
        },
    )


def _card(model: KnownModel) -> None:
    settings = resources.settings()
    st.subheader(show.plain(model.title), anchor=False)
    show.note(f"{model.parameters / 1e6:.0f} million parameters, {model.window:,} tokens of context. {model.note}")
    show.note(f"License: {model.license}. {model.terms}")
    if embedded.is_ready(model.id, settings):
        st.badge("On this machine", icon=":material/check:", color="green")
        return
    assert model.embedded is not None
    label = "Prepare" if model.embedded.installed else "Download and prepare"
    st.button(
        f"{label} {model.title}",
        key=f"prepare:{model.id}",
        icon=":material/download:",
        disabled=jobs.is_running(model.title),
        on_click=_prepare,
        args=(model.id, model.title),
    )
    show.note("Its weights are converted once, which takes a minute or two and 3 GB of memory for a moment.")


def _prepare(name: str, title: str) -> None:
    settings = resources.settings()
    jobs.start(title, lambda report: embedded.ensure(name, settings, report))
