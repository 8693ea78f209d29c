"""Text of `names/bad-file-name`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="names/bad-file-name",
    severity=Severity.ERROR,
    summary="""
        A profile's file name is its name: lower-case letters, digits and inner hyphens, no device's
        name, and no word such as `on` or `null`.
    """,
    why="""
        The name becomes namespaces, queues and labels; the API server refuses any other form.
        YAML readers take `on` or `null` for something else than text, wherever the name is
        written without quotes.
        Windows can't check out a file or folder with the name of a device, such as `con`.
    """,
    fix="""
        Rename the file: a lower-case letter first, then lower-case letters, digits and hyphens, at
        most 40 characters.
    """,
)
