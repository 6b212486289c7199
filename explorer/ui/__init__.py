"""What the pages share: caching decorators, the sidebar, things to show."""
