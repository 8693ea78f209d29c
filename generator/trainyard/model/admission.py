"""Requests to the API server, and what its admission plugins answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """A creation of an object.

    Args:
        body: the object, with its defaults.
        resource: name of the kind in the API's paths, e.g. ``trainjobs``.
        user: name of who creates it.
        groups: of the user.
    """

    body: dict[str, Any]
    resource: str
    user: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Denial:
    """A validation that failed.

    Args:
        policy: name of the ValidatingAdmissionPolicy, or ``PodSecurity`` or ``ObjectMeta``.
        binding: name of its binding; empty for the other two.
        message: as the API server shows it.
    """

    policy: str
    binding: str
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a request.

    Args:
        denials: every validation that failed, sorted by policy.
        error: the API server's answer; empty when it admits the object.
    """

    denials: tuple[Denial, ...]
    error: str

    @property
    def admitted(self) -> bool:
        """Return whether no plugin refuses the object."""
        return not self.error


Judge = Callable[[Sequence[Request]], Sequence[Answer]]
"""Answers some requests by the admission plugins of a cluster."""
