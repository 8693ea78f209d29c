"""Text of `shape/misplaced-file`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/misplaced-file",
    severity=Severity.ERROR,
    summary="""
        Every file below profiles/ is a profile in the folder of its kind, or listed by the
        component beside it.
    """,
    why="""
        In review the file looks like configuration, but it changes nothing on the cluster.
    """,
    fix="""
        Move it to hardware/, clusters/, compliance/, runtimes/ or teams/, end its name in .yaml, or
        remove it. A release is a folder of releases/.
    """,
)
