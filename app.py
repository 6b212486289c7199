"""The explorer in the browser: the list of its pages."""

import streamlit as st

from explorer.ui.frame import PAGES

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
