"""Other engines, run on the same weights and sentences as ours."""
