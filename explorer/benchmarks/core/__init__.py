"""What every benchmark is made of: its record, its files, formulas of suites."""
