"""Rules on the form of a profile: it must be one plain YAML mapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity

_PLACES: Final = 10
"""Anchors and aliases of a file whose places are listed."""


def _rule(name: str, summary: str, why: str, fix: str) -> Rule:
    return Rule(f"shape/{name}", Severity.ERROR, summary, why, fix)


NOT_YAML = _rule(
    "not-yaml",
    "The file is well-formed YAML.",
    "Nothing can be generated from the file: its cluster would keep its last tree, which differs "
    "from the profile.",
    "Correct the syntax; quote a value that has `: ` or ` #` or begins with one of `*&!|>%@[]{}`.",
)
NOT_UTF8 = _rule(
    "not-utf8",
    "The file is encoded in UTF-8.",
    "Readers guess the encoding differently, so a name could differ between the review and the "
    "cluster.",
    "Save the file as UTF-8.",
)
HIDDEN_CHARACTER = _rule(
    "hidden-character",
    "The file and its values hold no control, bidirectional, zero-width or other invisible "
    "character.",
    "The cluster gets another value than the reviewer sees: some readers end a line, and so a "
    "comment, at such a character.",
    "Delete the character.",
)
CONFLICT_MARKER = _rule(
    "conflict-marker",
    "The file holds a profile, not a merge conflict or a Git LFS pointer.",
    "The profile is missing: a merge was not finished, or Git LFS did not fetch the file.",
    "Finish the merge and remove the marker lines.",
)
EMPTY_FILE = _rule(
    "empty-file",
    "The file is not empty.",
    "An empty profile would silently remove its team, hardware or cluster from the tree.",
    "Fill in the profile, or take its last content from Git.",
)
NOT_A_MAPPING = _rule(
    "not-a-mapping",
    "The document is a mapping of keys to values.",
    "A list or a single value has no fields, so nothing can be generated from it.",
    "Begin the file with a key, such as `kind: Team`.",
)
DUPLICATE_KEY = _rule(
    "duplicate-key",
    "A mapping has each key once.",
    "Some readers silently take the last value, others reject the file: the quota in force may "
    "differ from the reviewed one.",
    "Keep one of the two.",
)
ANCHOR_OR_ALIAS = _rule(
    "anchor-or-alias",
    "Every value is written out: no anchors, aliases or merge keys.",
    "A change at the anchor changes distant values that the diff does not show, and nested aliases "
    "grow without bound.",
    "Write the value out; put values that many profiles share into a profile that they refer to.",
)
TAG = _rule(
    "tag",
    "No value carries a YAML tag.",
    "Tags change types by reader, and some readers construct arbitrary objects from them.",
    "Remove the tag; quote the value if it is text.",
)
DIRECTIVE = _rule(
    "directive",
    "The file has no YAML directive.",
    "A directive changes how the rest is read, and not every reader of the file obeys it.",
    "Remove the lines that begin with `%`.",
)
SECOND_DOCUMENT = _rule(
    "second-document",
    "The file holds one document.",
    "A reader that takes the first document only would silently ignore the second.",
    "Move the second document into a file of its own.",
)
AMBIGUOUS_SCALAR = _rule(
    "ambiguous-scalar",
    "A value without quotes is of the same type for every YAML reader.",
    "Readers disagree: Kubernetes' and Argo CD's take `no` for false, `0123` for 83 and `1e3` for "
    "a number. Others see text, so the cluster would get another value than the one reviewed.",
    "Put the value in double quotes.",
)
ODD_KEY = _rule(
    "odd-key",
    "Keys are plain text: ASCII letters, digits and `_ . : / -`, beginning with a letter or digit.",
    "A key that is a number, a truth value or a structure gets another name in each reader.",
    "Spell the key with letters, digits and `_ . : / -`; quote it if it looks like a number or a "
    "truth value.",
)
TOO_LARGE = _rule(
    "too-large",
    "The file stays within the size of a profile a human can review.",
    "A profile beyond these limits can't be reviewed, and can exhaust the memory of the pipeline "
    "that reads it.",
    "Split the profile, or move generated content out of it.",
)
SECRET_IN_GIT = Rule(
    id="delivery/secret-in-git",
    severity=Severity.ERROR,
    summary="No file holds what looks like a credential.",
    why="""
        Git keeps it permanently, and everybody with a checkout has it; the team's viewers read it
        in a component's ConfigMap (seen with Kubernetes 1.36.3).
    """,
    fix="""
        Revoke it, since others may have seen it. Put the new one into the secret store; the team
        gets it by `storage`, `pullSecrets` or an ExternalSecret in a component.
    """,
)

RULES: tuple[Rule, ...] = (
    NOT_YAML,
    NOT_UTF8,
    HIDDEN_CHARACTER,
    CONFLICT_MARKER,
    EMPTY_FILE,
    NOT_A_MAPPING,
    DUPLICATE_KEY,
    ANCHOR_OR_ALIAS,
    TAG,
    DIRECTIVE,
    SECOND_DOCUMENT,
    AMBIGUOUS_SCALAR,
    ODD_KEY,
    TOO_LARGE,
    SECRET_IN_GIT,
)


def anchors_as_one(found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the findings of a file, with those on anchors and aliases as one at the first place.

    They have one cause.
    """
    shared = [each for each in found if each.rule == ANCHOR_OR_ALIAS.id]
    if len(shared) < 2:
        return tuple(found)
    first, *others = shared
    notes = tuple(Note(each.message, each.at) for each in others[: _PLACES - 1])
    message = f"{len(shared)} anchors, aliases and merge keys; the first is {first.message}"
    merged = replace(first, message=message, notes=notes)
    kept = []
    for each in found:
        if each is first:
            kept.append(merged)
        elif each.rule != ANCHOR_OR_ALIAS.id:
            kept.append(each)
    return tuple(kept)
