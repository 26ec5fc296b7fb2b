"""``python -m dragoman.server``: the same as ``dragoman serve``."""

from dragoman.server.cli import main

if __name__ == "__main__":
    main()
