"""Read a shell's command line where it is one call, and leave every other as it is."""

from __future__ import annotations

import re
import shlex

_EXPANDED = re.compile(r"[$`;&|<>(){}\[\]*?~#!\n]")
"""Characters that may mean something to a shell."""
_CD = re.compile(r"\A\s*cd\s+([A-Za-z0-9_./-]+)\s*(?:&&|;|\n)\s*")
_SHELLS = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})


def script_of(words: list[str]) -> int:
    """Return the index of the script among the words of a call of a shell; 0 for another call.

    Words after it are its parameters.
    """
    if not words or words[0].rpartition("/")[2] not in _SHELLS:
        return 0
    for index, word in enumerate(words[1:], start=1):
        if re.fullmatch(r"-[a-z]*c", word):
            return index + 1 if index + 1 < len(words) else 0
        if not word.startswith("-"):
            break
    return 0


def one_call(script: str) -> tuple[str, list[str]]:
    """Return the folder and the words of a script that is one call; no words for any other.

    A script may begin with ``cd FOLDER &&``, and with ``exec``.
    """
    text = re.sub(r"\\\n\s*", " ", script).strip()
    folder = ""
    if change := _CD.match(text):
        folder, text = change[1], text[change.end() :]
    if _EXPANDED.search(text):
        return "", []
    try:
        words = shlex.split(text)
    except ValueError:
        return "", []
    return folder, words[1:] if words[:1] == ["exec"] else words
