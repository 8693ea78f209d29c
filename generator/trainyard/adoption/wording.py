"""Names and comments of drafts, from names that anybody may have chosen."""

from __future__ import annotations

import re
from collections.abc import Container

from trainyard.model import names
from trainyard.rules.names.reserved_pool import RESERVED_POOLS
from trainyard.yaml_io.choices import MARK
from trainyard.yaml_io.scalars import HIDDEN, is_typed

_NAME = re.compile("[a-z]([a-z0-9-]{0,38}[a-z0-9])?")
"""Names of profiles, as `discover` takes them: none leads out of its folder."""
_MOST = 20_000
"""Characters of a comment: what a choice lists is whole, and a hostile dump has an end."""
_MOST_NAME = 38


def quoted(text: str) -> str:
    """Return text of a dump for a comment: one line without characters that nobody sees.

    What is too long has its end marked.
    """
    line = " ".join(HIDDEN.sub("?", text).split())
    return line if len(line) <= _MOST else f"{line[:_MOST]} ... ({len(line)} characters)"


def choose(text: str, indent: str = "") -> str:
    """Return the line that stands in place of a value that a person chooses."""
    return f"{indent}{MARK}{quoted(text)}"


def said(line: str, source: str) -> str:
    """Return a line with the place that its value is from."""
    return f"{line} # {quoted(source)}"


def fit(name: str, kind: str, taken: Container[str] = ()) -> str:
    """Return a name that a profile can have: the same one, or the nearest.

    Args:
        name: that the site has.
        kind: of the profile, added to a name that is reserved.
        taken: names that are given.
    """
    plain = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:_MOST_NAME].strip("-") or kind
    if not plain[0].isalpha():
        plain = f"{kind}-{plain}"[:_MOST_NAME].strip("-")
    if not is_fit(plain):
        plain = f"{plain}-{kind}"[:_MOST_NAME]
    found, number = plain, 2
    while found in taken:
        found, number = f"{plain[: _MOST_NAME - 3]}-{number}", number + 1
    return found


def is_fit(name: str) -> bool:
    """Return whether a profile, pool or team can have a name."""
    reserved = name in names.RESERVED_TEAMS | names.DEVICES | RESERVED_POOLS
    return _NAME.fullmatch(name) is not None and not reserved and not is_typed(name)
