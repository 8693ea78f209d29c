"""Text of `release/changed-release`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="release/changed-release",
    severity=Severity.ERROR,
    summary="""
        The folder of each release of the repository has the digest that `releases` in
        profiles/trainyard.yaml states.
    """,
    why="""
        The schemas of a release decide which fields the tree may have, and its features which
        policies it gets: a folder that changed unseen could weaken both.
    """,
    fix="""
        Undo the change of the folder. If the change was reviewed, write the digest of the message
        under `releases` in profiles/trainyard.yaml.
    """,
)
