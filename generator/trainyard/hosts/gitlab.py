"""Merge requests of GitLab.

Sources: GitLab's REST API, "Notes API", "Merge requests API" and "Users API".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.hosts.api import Api, part
from trainyard.hosts.sticky import Comment
from trainyard.model.lookup import text


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """The notes of a merge request.

    Args:
        project: its number.
        number: of the merge request in the project.
    """

    api: Api
    project: int
    number: int

    @property
    def _path(self) -> str:
        return f"/projects/{self.project}/merge_requests/{self.number}"

    def head(self) -> str:
        """Return the commit that the merge request ends with.

        Raises:
            ToolError, TreeError: as `Api.get`.
        """
        return part(self.api.get(self._path), str, "sha")

    def comments(self) -> Iterator[Comment]:
        """Yield the notes, the oldest first.

        Raises:
            ToolError, TreeError: as `Api.get`.
        """
        own = part(self.api.get("/user"), int, "id")
        order = {"sort": "asc", "order_by": "created_at"}
        for each in self.api.every(f"{self._path}/notes", **order):
            is_own = part(each, int, "author", "id") == own
            yield Comment(part(each, int, "id"), is_own, text(each, "body"))

    def create(self, body: str) -> None:
        """Write a new note.

        Raises:
            ToolError, TreeError: as `Api.get`.
        """
        self.api.send("POST", f"{self._path}/notes", body=body)

    def update(self, comment: int, body: str) -> None:
        """Replace the body of a note.

        Raises:
            ToolError, TreeError: as `Api.get`.
        """
        self.api.send("PUT", f"{self._path}/notes/{comment}", body=body)


def gitlab(address: str, token: str) -> Api:
    """Return GitLab's API at an address, e.g. ``https://gitlab.example.com/api/v4``."""
    return Api(address.rstrip("/"), {"PRIVATE-TOKEN": token})
