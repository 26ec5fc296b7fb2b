"""`dpkg-deb --ctrl-tarfile FILE` and `--fsys-tarfile FILE`, for machines that have no dpkg."""

import gzip
import sys
from pathlib import Path

PARTS = {"--ctrl-tarfile": b"control.tar.gz", "--fsys-tarfile": b"data.tar.gz"}


def member(archive: bytes, wanted: bytes) -> bytes:
    """Return a member of an ar archive."""
    place = 8
    while archive.startswith(b"!<arch>\n") and place < len(archive):
        name, size = archive[place : place + 16].strip(), int(archive[place + 48 : place + 58])
        if name == wanted:
            return archive[place + 60 : place + 60 + size]
        place += 60 + size + size % 2
    sys.exit(2)


if __name__ == "__main__":
    option, path = sys.argv[1:]
    content = member(Path(path).read_bytes(), PARTS[option])
    sys.stdout.buffer.write(gzip.decompress(content))
