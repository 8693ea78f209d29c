"""Write text into a container so that a program gets it unchanged.

kubelet replaces ``$(NAME)`` in `command`, `args` and `env` by the value of a variable of the
container, and ``$$`` by ``$`` (kubernetes/kubernetes:third_party/forked/golang/expansion).
"""

from __future__ import annotations

import re

_READ = re.compile(r"\$(?=[$(])")


def literal(text: str) -> str:
    """Return the text that kubelet expands to the given one."""
    return _READ.sub("$$", text)
