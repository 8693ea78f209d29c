"""Pieces of Markdown."""

from __future__ import annotations

import re


def anchor(title: str) -> str:
    """Return the anchor that GitHub and GitLab give a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def cell(text: str) -> str:
    """Return text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
