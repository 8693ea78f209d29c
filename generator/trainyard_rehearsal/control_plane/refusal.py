"""What the API server refuses, in its words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx


class Refused(Exception):  # noqa: N818 - it is the server's answer, and no failure of ours
    """The API server's refusal of a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@contextmanager
def unless_gone() -> Iterator[None]:
    """Leave out a request about an object that somebody else has deleted.

    Between a list and the request that follows, a controller may end what was listed: Kueue an
    evicted job's pods, Argo CD an object that left the tree.

    Raises:
        Refused: for any other reason.
    """
    try:
        yield
    except Refused as refused:
        if refused.status != httpx.codes.NOT_FOUND:
            raise
