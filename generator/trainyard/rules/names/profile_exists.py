"""Text of `names/profile-exists`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="names/profile-exists",
    severity=Severity.ERROR,
    summary="The name of a new profile is one that no profile of its kind has.",
    why="The profile that is there would be lost, with what is generated from it.",
    fix="Choose another name, or change the profile that is there.",
)
