"""The run panel's choice of a cluster: what matters only on one is asked only then."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from explorer.runs.compute_target import ComputeTarget


def panel() -> None:
    import streamlit as st

    from explorer.errors import UsageError
    from explorer.ui import run_where

    run_where.draw_run_where()
    try:
        st.session_state["chosen"] = run_where.place_chosen()
    except UsageError as error:
        st.error(str(error))


def test_a_run_is_done_here_unless_a_cluster_is_named():
    app = AppTest.from_function(panel).run()
    assert [box.label for box in app.text_input] == ["Ray cluster"]
    assert app.session_state["chosen"] == ComputeTarget()
    app.text_input(key="run:cluster").set_value("10.0.0.1:6379").run()
    app.number_input(key="run:workers").set_value(8).run()
    assert app.session_state["chosen"] == ComputeTarget("10.0.0.1:6379", workers=8)
    app.text_input(key="run:to").set_value("https://host/x").run()
    assert "can only be read" in app.error[0].value
    app.text_input(key="run:cluster").set_value("").run()
    assert not app.error and app.session_state["chosen"] == ComputeTarget()
