"""One comment that is found again and updated, so that a pull request is not flooded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

MARKER = "<!-- trainyard:review -->"
"""First line of the comment, which no host shows."""
NOTHING = "<!-- trainyard:nothing -->"
"""First line of a text that is worth no comment, which no host shows."""
NO_EFFECT = "This change has no effect on any cluster any more."


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a pull request.

    Args:
        own: whether its author is the account that we write with.
    """

    id: int
    own: bool
    body: str


class Discussion(Protocol):
    """The comments of one pull request or merge request."""

    def comments(self) -> Iterator[Comment]:
        """Yield the comments, the oldest first."""

    def create(self, body: str) -> None:
        """Write a new comment."""

    def update(self, comment: int, body: str) -> None:
        """Replace the body of a comment."""


def sticky(comments: Iterable[Comment]) -> Comment | None:
    """Return the oldest comment that we wrote.

    Both the marker and the author count: anybody can write the marker, and the account may write
    other comments.
    """
    return next(
        (comment for comment in comments if comment.own and comment.body.startswith(MARKER)), None
    )


def post(discussion: Discussion, text: str) -> str:
    """Write or update the comment; return what was done: ``created``, ``updated`` or ``nothing``.

    Args:
        discussion: of the pull request.
        text: of the comment; when it is empty, or marked so, there is nothing to say. Then a
            comment that is there says so, and none is written.

    Raises:
        ToolError: the host refuses.
        TreeError: its answer is malformed.
    """
    known = sticky(discussion.comments())
    worth = "" if text.startswith(NOTHING) else text.strip()
    body = f"{MARKER}\n{worth or NO_EFFECT}\n"
    if known is None and not worth:
        return "nothing"
    if known is None:
        discussion.create(body)
        return "created"
    if known.body.strip() == body.strip():
        return "nothing"
    discussion.update(known.id, body)
    return "updated"
