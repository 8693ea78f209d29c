"""Things of the model that have a name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """Name among things of its kind."""


T = TypeVar("T", bound=Named)


def by_name(things: Iterable[T]) -> dict[str, T]:
    """Return things by their names, in the order in which each name comes first."""
    return {thing.name: thing for thing in things}
