"""What happens to an object, and the mark of a line that says so."""

from __future__ import annotations

CHANGES = ("created", "changed", "recreated", "deleted", "left behind")
"""What happens to an object, in the order of reports."""

MARKS = {
    "created": "+",
    "changed": "~",
    "recreated": "!",
    "deleted": "-",
    "left behind": "-",
}
