"""What the pages share: caching decorators, the frame, things to show."""
