"""What kubelet makes of the texts of a container, as written down in its own source.

Source: kubernetes/kubernetes:third_party/forked/golang/expansion/expand.go@v1.36.0.
"""

from __future__ import annotations

from collections.abc import Mapping


def given(text: str, environment: Mapping[str, str]) -> str:
    """Return a text of `command`, `args` or `env` as the program gets it."""
    out, position = "", 0
    while position < len(text):
        follows = text[position + 1 : position + 2]
        end = text.find(")", position) if follows == "(" else -1
        if (
            text[position] != "$"
            or not follows
            or (follows not in "$(")
            or (follows == "(" and end < 0)
        ):
            out += text[position]
            position += 1
        elif follows == "$":
            out += "$"
            position += 2
        else:
            name = text[position + 2 : end]
            out += environment.get(name, text[position : end + 1])
            position = end + 1
    return out
