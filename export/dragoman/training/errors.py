"""What can be wrong with a checkpoint."""


class CheckpointError(ValueError):
    """A checkpoint is incomplete, altered or of another shape; the message names what."""
