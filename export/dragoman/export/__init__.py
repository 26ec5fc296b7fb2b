"""From a checkpoint to a bundle: graphs, int8, certificate, files.

`graphs` traces the three graphs (`encoder_graph`, `decoder_graph`, `scorer_graph`, made of `parts`,
`attention`, `candidates` and `operators`) with `arithmetic`, which is fp32, or `int8`, which rounds
with ranges from `calibration`, channels balanced by `equalization` and weights by `quantization`.
`precisions` names both, `weights` stores every parameter once. `runner` drives the graphs,
`certificate` and `dev_text` measure what a bundle must prove, `bundle` writes it, `export` does all
this in order, and `cli` is `dragoman export`.
"""
