"""Pull requests of GitHub.

Sources: GitHub's REST API, "List pull requests", "List issue comments" and "Update an issue
comment", version 2022-11-28.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.hosts.api import Api, part
from trainyard.hosts.sticky import Comment
from trainyard.model.lookup import text

AUTHOR = "github-actions[bot]"
"""The account of a workflow's own token."""


@dataclass(frozen=True, slots=True)
class Head:
    """The commit that was checked, as the event of the workflow names it.

    Args:
        repository: ``owner/name``, that of a fork included.
        branch: in it.
        commit: 40 hexadecimal digits.
    """

    repository: str
    branch: str
    commit: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The comments of a pull request.

    Args:
        author: login of the account that we write with.
    """

    api: Api
    repository: str
    number: int
    author: str

    def comments(self) -> Iterator[Comment]:
        """Yield the comments, the oldest first.

        Raises:
            ToolError, TreeError: as `Api.get`.
        """
        for each in self.api.every(f"/repos/{self.repository}/issues/{self.number}/comments"):
            own = text(each, "user", "type") == "Bot" and text(each, "user", "login") == self.author
            yield Comment(part(each, int, "id"), own, text(each, "body"))

    def create(self, body: str) -> None:
        """Write a new comment.

        Raises:
            ToolError, TreeError: as `Api.get`.
        """
        path = f"/repos/{self.repository}/issues/{self.number}/comments"
        self.api.send("POST", path, body=body)

    def update(self, comment: int, body: str) -> None:
        """Replace the body of a comment.

        Raises:
            ToolError, TreeError: as `Api.get`.
        """
        path = f"/repos/{self.repository}/issues/comments/{comment}"
        self.api.send("PATCH", path, body=body)


def github(address: str, token: str) -> Api:
    """Return GitHub's API at an address, e.g. ``https://api.github.com``."""
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    return Api(address.rstrip("/"), headers)


def find_pull_request(api: Api, repository: str, head: Head) -> int | None:
    """Return the number of the open pull request whose head is a commit, None without one.

    The number is asked of the host, and never taken from what the pull request's own workflow
    wrote. The event has no number for a fork. When the branch has moved on, the run of the newer
    commit writes the comment.

    Raises:
        ToolError, TreeError: as `Api.get`.
    """
    owner = head.repository.partition("/")[0]
    query = {"state": "open", "head": f"{owner}:{head.branch}"}
    for each in api.every(f"/repos/{repository}/pulls", **query):
        # The repository is null once a fork is deleted.
        of = part(each, str, "head", "sha"), text(each, "head", "repo", "full_name")
        if of == (head.commit, head.repository):
            return part(each, int, "number")
    return None
