"""Who has a role: groups as the identity provider names them, and single users.

A profile lists both in one list. A group is its name, such as ``nlp-leads`` or ``/ml/nlp``; a user
is ``User:`` and the name, such as ``User:alice@example.com``.
"""

from __future__ import annotations

USER = "User:"
"""Begins the entry of a user: how RBAC calls its subjects of that kind."""

SIGNED_IN = "system:authenticated"
"""Group of all who have signed in."""


def is_user(entry: str) -> bool:
    """Return whether an entry is a user rather than a group."""
    return entry.startswith(USER)


def name_of(entry: str) -> str:
    """Return the name of a group or user, as the API server knows it."""
    return entry.removeprefix(USER)


def kind_of(entry: str) -> str:
    """Return what an entry is, as RBAC names the kind of a subject: ``Group`` or ``User``."""
    return "User" if is_user(entry) else "Group"


def described(entry: str) -> str:
    """Return an entry in words, e.g. ``group nlp-leads`` or ``user alice``."""
    return f"{kind_of(entry).lower()} {name_of(entry)}"


def quoted(entry: str) -> str:
    """Return an entry in words for a message, its name in backticks."""
    return f"{kind_of(entry).lower()} `{name_of(entry)}`"


def acting_as(entry: str) -> tuple[str, tuple[str, ...]]:
    """Return the user name and groups of a member of a group, or of a user."""
    if is_user(entry):
        return name_of(entry), (SIGNED_IN,)
    return f"somebody@{entry}", (entry, SIGNED_IN)
