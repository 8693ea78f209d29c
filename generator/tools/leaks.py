"""Derive the reader's credential rules from gitleaks' rule set.

Run it after a change of the version in ``generator/trainyard/yaml_io/gitleaks/go.mod``::

    python -m tools.leaks [--check]

It downloads gitleaks as a Go module, verified against the committed ``go.sum``, and writes
``rules.json`` and gitleaks' ``LICENSE`` beside it. ``--check`` writes nothing and fails when a
committed file differs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from trainyard.derivation.modules import modules
from trainyard.diagnostics import ToolError

_HERE = Path(__file__).parents[1] / "trainyard" / "yaml_io" / "gitleaks"
_MODULE: Final = "github.com/zricethezav/gitleaks/v8"

_ASSIGNMENT: Final = r"(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)"
"""In each rule that knows a secret by the word before it: ``datadog:`` and 40 letters or digits may
be an image."""

LEFT_OUT: Final = {
    "curl-auth-header": "a command line: `.*` over five lines takes quadratic time",
    "curl-auth-user": "a command line: `.*` over five lines takes quadratic time",
    "flutterwave-public-key": "a public key",
    "kubernetes-secret-yaml": "no component may hold a Secret, and the rule backtracks over 300 "
    "characters",
    "private-key": "ours also finds a key that is cut off before its end",
    "sidekiq-sensitive-url": "ours finds a password in any address",
    "sourcegraph-access-token": "it takes every Git commit for a token",
    "vault-batch-token": "ours also finds short ones",
    "vault-service-token": "ours also finds short ones, and `s.` and 24 letters is a host name",
}
"""Rules that are not used, and why."""

_FOLDED: Final = "(?i)"
_END: Final = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
_NO_MORE: Final = r"(?![\w-])"
"""Instead of ``_END``: in YAML, a comma or a bracket may come after a token too."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the rules, or check them; return the exit code (1: a file differs)."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.leaks", description="derive credential rules"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when a committed file differs"
    )
    check = parser.parse_args(arguments).check
    source = modules(_HERE)[_MODULE]
    table = (source / "config" / "gitleaks.toml").read_text(encoding="utf-8")
    wanted = {"LICENSE": (source / "LICENSE").read_bytes(), "rules.json": rules_file(table)}
    changed = [name for name, content in wanted.items() if not _holds(_HERE / name, content)]
    for name in changed:
        sys.stdout.write(f"yaml_io/gitleaks/{name}\n")
        if not check:
            (_HERE / name).write_bytes(wanted[name])
    return int(check and bool(changed))


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def rules_file(table: str) -> bytes:
    """Return the rules of a ``gitleaks.toml`` that are used, as JSON, one on a line.

    Raises:
        ToolError: a rule that is left out is no longer there, or a regular expression can't be
            translated.
    """
    found = {each["id"]: each for each in tomllib.loads(table)["rules"]}
    if gone := sorted(LEFT_OUT.keys() - found.keys()):
        raise ToolError(f"gitleaks has no rule {', '.join(gone)} any more: remove it from LEFT_OUT")
    used = [
        _rule(each)
        for name, each in sorted(found.items())
        if name not in LEFT_OUT and _has_shape(each)
    ]
    lines = ",\n".join(json.dumps(each, sort_keys=True, ensure_ascii=False) for each in used)
    return f"[\n{lines}\n]\n".encode()


def _has_shape(rule: dict[str, Any]) -> bool:
    """Tell whether a rule finds a secret in any file by the form of the secret itself."""
    return "regex" in rule and "path" not in rule and _ASSIGNMENT not in rule["regex"]


def _rule(rule: dict[str, Any]) -> dict[str, Any]:
    pattern = python_pattern(rule["regex"])
    try:
        re.compile(pattern, re.ASCII)
    except re.error as error:
        raise ToolError(
            f"the regular expression of gitleaks' {rule['id']} is not Python's: {error}"
        ) from error
    return {
        "id": rule["id"],
        "entropy": rule.get("entropy", 0),
        "keywords": sorted(word.lower() for word in rule["keywords"]),
        "pattern": pattern,
    }


def python_pattern(regex: str) -> str:
    """Return a regular expression of Go for Python: ends of tokens, POSIX classes, inner flags.

    Go's ``(?i)`` counts from where it is to the end of its group; Python takes it at the very
    beginning only.
    """
    text = re.sub(r"\(\?:\[\^([^]]+)\]\|\\z\)", r"(?![\1])", regex.replace(_END, _NO_MORE))
    text = text.replace("[[:alnum:]]", "[A-Za-z0-9]")
    while (start := text.find(_FOLDED, 1)) > 0:
        end = _end_of_group(text, start + len(_FOLDED))
        text = f"{text[:start]}(?i:{text[start + len(_FOLDED) : end]}){text[end:]}"
    return text


def _end_of_group(text: str, start: int) -> int:
    """Return where the group that holds a position ends."""
    depth = 0
    for part in re.finditer(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]", text[start:], re.DOTALL):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if depth < 0:
            return start + part.start()
    return len(text)


if __name__ == "__main__":
    sys.exit(main())
