"""What runs on the device: packed rows, shared prefixes, the decoder and its caches."""
