"""What an address says of one instance, or of one benchmark, alone: it leaves the address together with that."""

OF_INSTANCE = ("edit", "swaps", "word", "at")
CONTEXT = "context"
OF_BENCHMARK = ("run", "instance", "group", "suite", "deciles", CONTEXT, *OF_INSTANCE)
