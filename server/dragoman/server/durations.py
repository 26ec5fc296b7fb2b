"""Seconds of Python as durations of protobuf."""

from google.protobuf.duration_pb2 import Duration


def duration(seconds: float) -> Duration:
    """`seconds` to the nanosecond; less than none counts as none."""
    whole, nanos = divmod(max(0, round(seconds * 1e9)), 1_000_000_000)
    return Duration(seconds=whole, nanos=nanos)
