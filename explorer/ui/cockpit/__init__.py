"""The cockpit: one instance under every lens, its words open to be changed; pages open it on their own lens."""
