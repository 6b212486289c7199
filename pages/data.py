from explorer.ui import frame

frame.open_page("Data and models", "x")
