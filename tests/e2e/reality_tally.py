"""What was said about changes beside what happened, counted by class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CLASSES = ("evictions", "permissions", "network paths", "objects")
_HEAD = "| class | announced and happened | announced only | happened only | precision | recall |"


@dataclass(slots=True)
class Tally:
    """Facts of a class: those that were said and happened, and the others, each with its change."""

    right: int = 0
    said_only: list[str] = field(default_factory=list)
    happened_only: list[str] = field(default_factory=list)

    def add(self, change: str, said: set[object], happened: set[object]) -> None:
        """Compare what was said with what happened."""
        self.right += len(said & happened)
        self.said_only += [f"{change}: {each}" for each in sorted(said - happened, key=str)]
        self.happened_only += [f"{change}: {each}" for each in sorted(happened - said, key=str)]

    @property
    def misses(self) -> list[str]:
        """What was said or happened alone."""
        said = [f"said only: {each}" for each in self.said_only]
        return [*said, *(f"happened only: {each}" for each in self.happened_only)]

    def of(self, change: str) -> list[str]:
        """Return the misses of one change."""
        return [each for each in self.misses if f"only: {change}: " in each]

    @property
    def precision(self) -> float:
        """The share of what was said that happened."""
        return _share(self.right, len(self.said_only))

    @property
    def recall(self) -> float:
        """The share of what happened that was said."""
        return _share(self.right, len(self.happened_only))


def _share(right: int, wrong: int) -> float:
    """Return a share; of nothing all is right: a dozen changes may evict nobody."""
    return right / (right + wrong) if right + wrong else 1.0


def table(tallies: Mapping[str, Tally]) -> str:
    """Return the figures of each class as a table for ``docs/proof.md``."""
    lines = [_HEAD, "|---|---|---|---|---|---|"]
    for name, tally in tallies.items():
        counts = f"{tally.right} | {len(tally.said_only)} | {len(tally.happened_only)}"
        lines.append(f"| {name} | {counts} | {tally.precision:.3f} | {tally.recall:.3f} |")
    return "\n".join(lines)
