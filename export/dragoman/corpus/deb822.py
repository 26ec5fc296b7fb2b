"""The format of control files and indexes: paragraphs of `Field: value`, lines may continue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def paragraphs(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield each paragraph as {field name in lower case: value}.

    Continuation lines lose their first character and are joined with newlines; lines that are
    neither a field nor a continuation are left out, comments too.
    """
    fields: dict[str, str] = {}
    name = ""
    for raw in lines:
        line = raw.rstrip("\r\n")
        if not line.strip():
            if fields:
                yield fields
            fields, name = {}, ""
        elif line[0] in " \t":
            if name:
                fields[name] += "\n" + line[1:]
        elif not line.startswith("#"):
            key, separator, value = line.partition(":")
            name = key.strip().lower() if separator else ""
            if name:
                fields[name] = value.strip()
    if fields:
        yield fields
