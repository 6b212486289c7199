"""Who may see the app: the door before every page."""
