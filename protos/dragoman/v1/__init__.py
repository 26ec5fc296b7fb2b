"""The contract of Dragoman: messages and services of the protobuf package ``dragoman.v1``.

The messages are in ``translation_pb2`` and ``model_pb2``, the service classes in
``translation_pb2_grpc`` and ``model_pb2_grpc``; ``errors`` holds the names that its errors use,
``limits`` the numbers that it fixes.
"""
