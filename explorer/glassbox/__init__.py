"""The glass box: small models trained on a corpus that any machine can rebuild, with known doses planted in it."""
