"""Methods held against the truth that is planted in the glass box."""
