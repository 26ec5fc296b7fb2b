"""Training a Transformer from parallel text."""
