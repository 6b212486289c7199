"""What stored runs say of models that differ in training tokens, parameters or seed alone."""
