"""Other engines, and ours, run on the same weights and sentences, each in a process of its own."""
