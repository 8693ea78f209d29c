"""Names that controllers derive from other objects of a team's namespace."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

_JOBS = frozenset({"MPIJob", "TrainJob"})

Taken = Literal["kept", "replaced", "used"]


@dataclass(frozen=True, slots=True)
class DerivedName:
    """A name that a controller gives to an object that it makes.

    Args:
        by: the controller.
        of: kind that it makes the object from; ``Namespace`` for one in each namespace.
        kind: of the object.
        name: ``*`` stands for the name of what it is made from.
        taken: what becomes of an object that has the name already: ``replaced`` by the controller,
            ``used`` as it is, or ``kept`` because the controller fails.
        source: of these facts.
    """

    by: str
    of: str
    kind: str
    name: str
    taken: Taken
    source: str

    @property
    def is_of_a_job(self) -> bool:
        """Return whether users choose the name: it is that of a job."""
        return self.of in _JOBS

    @property
    def is_bare(self) -> bool:
        """Return whether the object has just the name of what it is made from."""
        return self.name == "*"

    def fits(self, name: str) -> bool:
        """Return whether the controller may give a name."""
        return fnmatchcase(name, self.name)
