"""Faults of a user's input and their places: every stage yields them, only the CLI prints them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

Step = str | int
"""One step of a path into a profile: a mapping key or a list index."""


class Severity(StrEnum):
    """How bad a finding is: an error stops the pipeline, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Pointer:
    """A place in a file: the file, and the path of keys and indexes inside it.

    The reporter turns it into line and column; a path that leads nowhere (a value that was
    defaulted) is shown at its nearest ancestor that exists.

    Args:
        file: path as the user knows it, with forward slashes, e.g. ``profiles/teams/nlp.yaml``.
        path: keys and indexes from the root of the document.
        on_key: whether the key itself is meant rather than its value.
        line, column: 1-based, only for a file that could not be read as YAML and so has no paths.
    """

    file: str
    path: tuple[Step, ...] = ()
    on_key: bool = False
    line: int = 0
    column: int = 0

    def __truediv__(self, step: Step) -> Pointer:
        """Return the place one step further inside."""
        return self.below((step,))

    def below(self, path: Iterable[Step]) -> Pointer:
        """Return the place several steps further inside."""
        # `replace` takes four times as long, and there are thousands of places.
        return Pointer(self.file, (*self.path, *path), self.on_key, self.line, self.column)

    def key(self) -> Pointer:
        """Return the same place, meaning its key."""
        return replace(self, on_key=True)


@dataclass(frozen=True, slots=True)
class Note:
    """A second place or fact that explains a diagnostic."""

    message: str
    at: Pointer | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding, complete for the user: what, where, what it does to the cluster, how to mend it.

    Args:
        cause: the message without what differs from place to place. Findings of a rule with the
            same cause and hint are reported together.
        waivable: whether a waiver lifts it although it is an error; it lifts every warning.
    """

    rule: str
    severity: Severity
    message: str
    at: Pointer
    consequence: str
    hint: str
    notes: tuple[Note, ...] = ()
    cause: str = ""
    waivable: bool = False

    @property
    def fact(self) -> tuple[str, str, str]:
        """The finding without its line, which an edit above it moves."""
        return self.rule, self.at.file, self.message

    @property
    def when(self) -> str:
        """When its consequence comes: a cluster that runs is as it is, whatever is merged."""
        return "if it stays" if self.rule.startswith("preflight/") else "if merged"


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of mistake that Trainyard knows.

    Args:
        id: ``family/bad-pattern``, permanent; reads well after "allow".
        severity: of every diagnostic of this rule.
        summary: what is checked, one sentence.
        why: the consequence on the cluster if it is merged; quotes the controller where
            it was seen.
        fix: how to put it right; the default hint.
        waivable: whether a waiver lifts it although it is an error: the platform team may accept
            its risk.
    """

    id: str
    severity: Severity
    summary: str
    why: str
    fix: str
    waivable: bool = False

    def __post_init__(self) -> None:
        for name in ("summary", "why", "fix"):
            # The texts are written as wrapped paragraphs and printed as single lines.
            object.__setattr__(self, name, " ".join(getattr(self, name).split()))

    def at(
        self,
        at: Pointer,
        message: str,
        *,
        hint: str = "",
        notes: Iterable[Note] = (),
        cause: str = "",
    ) -> Diagnostic:
        """Return a diagnostic of this rule at a place; by default the message is its cause."""
        return Diagnostic(
            self.id,
            self.severity,
            message,
            at,
            self.why,
            hint or self.fix,
            tuple(notes),
            cause or message,
            self.waivable,
        )


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Tell whether any finding stops the pipeline."""
    return any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)


class ToolError(Exception):
    """A tool or schema is missing, broken or of another version (exit code 4)."""


class TreeError(Exception):
    """The tree could not be read or written; what was there before is untouched (exit code 5)."""
