"""The models: those on this machine, a form to bring another, then those that are not here."""

from __future__ import annotations

import html
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from explorer.errors import ExplorerError
from explorer.figures.model_names import model_title
from explorer.scoring import catalog, embedded, hf_source, http
from explorer.scoring.catalog import KnownModel
from explorer.scoring.engine.memory import free_ram
from explorer.ui import inventory, jobs, layout, resources, show
from explorer.ui.columns import count_column, size_column, text_column
from explorer.ui.data import add_model
from explorer.ui.inventory import ModelHere

GB, MB = 1e9, 1e6


def draw_model_list() -> None:
    """What is here and what was added by hand, the forms, then what is absent."""
    jobs.draw_jobs()
    for column, model in zip(st.columns(len(catalog.EMBEDDED_MODELS)), catalog.EMBEDDED_MODELS, strict=True):
        with column, st.container(border=True, height="stretch"):
            _card(model)
    known = [model for model in inventory.models() if not model.embedded]
    ready = [model for model in known if model.ready]
    if ready:
        st.subheader("Also on this machine", anchor=False)
        _table(ready, "models here")
    _added()
    st.subheader("Add a model", anchor=False)
    add_model.draw_add_model()
    st.subheader("Not on this machine", anchor=False)
    memory = free_ram()
    free = f" This machine has {memory / GB:.0f} GB of memory free." if memory else ""
    show.lead(
        "Known by name, and downloaded when they are first used where the network is on; those of the glass box are "
        f"trained instead.{free}"
    )
    _table([model for model in known if not model.ready], "models not here")


def _table(models: Sequence[ModelHere], name: str) -> None:
    show.table(
        pd.DataFrame(
            {
                "model": [model_title(model.id) for model in models],
                "parameters": [model.parameters for model in models],
                "memory": [model.parameters * 4 / MB for model in models],
                "corpus": [model.corpus for model in models],
                "license": [model.license for model in models],
                "id": [model.id for model in models],
            }
        ),
        name,
        columns={
            "model": "Model",
            "parameters": size_column("Parameters"),
            "memory": count_column("Memory (MB)", "of its weights in float32", width=100),
            "license": text_column("License", width=150),
            "corpus": text_column("Trained on", width=425),
            "id": text_column("Id"),
        },
    )


def _added() -> None:
    names = inventory.added_models()
    if not names:
        return
    st.subheader("Added by hand", anchor=False)
    for number, name in enumerate(names):
        kind = "endpoint" if http.is_endpoint(name) else "folder" if hf_source.is_folder(name) else "Hugging Face hub"
        with st.container(horizontal=True, vertical_alignment="center"):
            shown = (
                f"<b>{html.escape(model_title(name))}</b><br><span class='lx-quiet'>{kind} · {html.escape(name)}</span>"
            )
            st.html(f'<div class="lx-run">{shown}</div>', width="stretch")
            layout.link_to("Instance", "Open", model=name)
            st.button("Take off the list", key=f"added:{number}", type="tertiary", icon=":material/close:",
                      on_click=_remove, args=(name,))  # fmt: skip


def _remove(name: str) -> None:
    try:
        inventory.remove_model(name)
    except ExplorerError as error:
        st.session_state[add_model.RESULT] = add_model.Tested(add_model.FOLDER, name, [], str(error))


def _card(model: KnownModel) -> None:
    settings = resources.settings()
    st.subheader(show.plain(model.title), anchor=False)
    show.note(f"{model.parameters / 1e6:.0f} million parameters, {model.window:,} tokens of context. {model.note}")
    show.note(f"License: {model.license}. {model.terms}")
    if embedded.is_ready(model.id, settings):
        st.badge("On this machine", icon=":material/check:", color="green")
        return
    st.badge("Not on this machine", icon=":material/cloud_download:", color="gray")
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
