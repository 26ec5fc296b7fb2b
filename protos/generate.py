"""Generate the Python stubs of the contract: ``python protos/generate.py [FOLDER]``.

The stubs are committed beside the ``.proto`` files, so that neither an install nor a build needs
a compiler. ``python protos/generate.py --release`` renews ``v1.binpb``, the descriptor against
which ``buf breaking`` compares; that is done at a release only.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
DESCRIPTOR = ROOT / "v1.binpb"


def sources() -> list[str]:
    """The ``.proto`` files, relative to the folder ``protos``, sorted."""
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("dragoman/**/*.proto"))


def generate(target: Path) -> list[Path]:
    """Write the stubs below ``target`` and return their paths, sorted.

    Raises:
        subprocess.CalledProcessError: a ``.proto`` file does not compile.
    """
    plugins = [f"--{name}_out={target}" for name in ("python", "pyi", "grpc_python", "mypy_grpc")]
    command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={ROOT}", *plugins]
    scripts = str(Path(sys.executable).parent)
    subprocess.run(  # noqa: S603 - every part of the command is written here
        [*command, *sources()], check=True, env={"PATH": scripts}
    )
    return sorted([*target.glob("dragoman/**/*_pb2*.py"), *target.glob("dragoman/**/*_pb2*.pyi")])


def release() -> None:
    """Renew the descriptor of the released contract."""
    buf = str(Path(sys.executable).parent / "buf")
    command = [buf, "build", "--exclude-source-info", "--output", str(DESCRIPTOR)]
    subprocess.run(command, check=True, cwd=ROOT)  # noqa: S603 - as above


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Generate the Python stubs of the contract.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT, help="where they go")
    parser.add_argument("--release", action="store_true", help="renew v1.binpb instead")
    arguments = parser.parse_args()
    if arguments.release:
        release()
    else:
        generate(arguments.folder)


if __name__ == "__main__":
    main()
