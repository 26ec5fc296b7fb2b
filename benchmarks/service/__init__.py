"""The best server that we could put round an engine which batches statically."""
