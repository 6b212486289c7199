"""The explorer in the browser: the server with its gate, and the list of its pages.

Streamlit reads this file twice: when the server starts, where `app` is what it serves, and at every visit, as the
script that is run.
"""

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.starlette import App

if get_script_run_ctx(suppress_warning=True) is None:
    from explorer.ui.cockpit import preloading
    from explorer.ui.gate import server as gate_server

    app = App(__file__, lifespan=preloading.lifespan_beside(gate_server.announce), middleware=gate_server.middleware())
else:
    import streamlit as st

    from explorer.ui.layout import PAGES

    first = PAGES[0]
    st.navigation(
        [
            st.Page(first.path, title=first.title, url_path="home", default=True),
            # The first page stands at the root; it answers to its own name too.
            st.Page(first.path, title=first.title, url_path=first.address),
            *(st.Page(page.path, title=page.title, url_path=page.address) for page in PAGES[1:]),
        ],
        position="hidden",
    ).run()
