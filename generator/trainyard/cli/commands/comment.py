"""``trainyard comment``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import click

from trainyard.cli.console import result
from trainyard.cli.exits import Exit, NoInput
from trainyard.cli.options import Command
from trainyard.diagnostics import TreeError
from trainyard.hosts.api import is_whole
from trainyard.hosts.github import AUTHOR, Head, PullRequest, find_pull_request, github
from trainyard.hosts.gitlab import MergeRequest, gitlab
from trainyard.hosts.sticky import post
from trainyard.plainfile import read_named

_LIMIT = 65_000
"""Bytes. GitHub takes 65,536 characters, GitLab 1,000,000."""
_REPOSITORY = re.compile(r"(?!\.+/)[A-Za-z0-9_.-]+/(?!\.+$)[A-Za-z0-9_.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9._~:/%[\]-]+")
_BRANCH = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]+")
_TOKEN = re.compile("[!-~]+")


class _Matching(click.ParamType[str]):
    """Text that has a form.

    Args:
        name: of the form, for people.
        pattern: the form.
        fault: message for a value that must not be shown.
    """

    def __init__(self, name: str, pattern: re.Pattern[str], fault: str = "") -> None:
        self.name = name
        self._pattern = pattern
        self._fault = fault

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not self._pattern.fullmatch(value):
            self.fail(self._fault or f"`{value}` is not a {self.name}", param, ctx)
        return value


class _Address(_Matching):
    """An address whose host and port can be read."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        address = super().convert(value, param, ctx)
        if not is_whole(address):
            self.fail(f"`{value}` is not a {self.name}", param, ctx)
        return address


_repository = _Matching("repository, e.g. org/platform", _REPOSITORY)
_commit = _Matching("commit of 40 or 64 hexadecimal digits", _COMMIT)
_branch = _Matching("branch whose name is UTF-8", _BRANCH)
_address = _Address("URL of an API, e.g. https://api.github.com", _ADDRESS)
_file = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
_head = click.option(
    "--head", type=_commit, required=True, metavar="SHA", help="The commit that was checked."
)


def _token(variable: str) -> Callable[[Command], Command]:
    """Return the option of a token, hidden: a command line is visible to other processes."""
    fault = f"{variable} has a character that no token has, such as a line break at its end"
    return click.option(
        "--token",
        type=_Matching("token", _TOKEN, fault),
        envvar=variable,
        required=True,
        hidden=True,
        help=f"Default: {variable}.",
    )


@click.group("comment")
def command() -> None:
    """Write one comment on a pull request, or update the one that is there.

    A hidden marker at its start and its author identify the comment. Nothing is written if the
    request has a newer commit.
    """


@command.command("github")
@_file
@_head
@click.option(
    "--repository",
    type=_repository,
    envvar="GITHUB_REPOSITORY",
    required=True,
    metavar="OWNER/NAME",
    help="The repository of the pull request. Default: GITHUB_REPOSITORY.",
)
@click.option(
    "--head-repository",
    type=_repository,
    required=True,
    metavar="OWNER/NAME",
    help="The repository of the checked commit, that of a fork included.",
)
@click.option(
    "--head-branch", type=_branch, required=True, metavar="NAME", help="Its branch there."
)
@click.option(
    "--author", default=AUTHOR, show_default=True, metavar="LOGIN", help="Account of the token."
)
@click.option(
    "--api",
    type=_address,
    envvar="GITHUB_API_URL",
    default="https://api.github.com",
    show_default=True,
    metavar="URL",
    help="Address of the API. Default: GITHUB_API_URL.",
)
@_token("GITHUB_TOKEN")
def on_github(
    *,
    file: Path,
    head: str,
    repository: str,
    head_repository: str,
    head_branch: str,
    author: str,
    api: str,
    token: str,
) -> int:
    """Write FILE on the open pull request whose head is a commit; GITHUB_TOKEN is the token.

    GitHub is asked for the number of the pull request, since an artifact of the pull request's
    own workflow can't be trusted. If FILE is empty, or `trainyard diff` found nothing, an existing
    comment is updated and no new one is written.
    """
    text, host = _text(file), github(api, token)
    number = find_pull_request(host, repository, Head(head_repository, head_branch, head))
    if number is None:
        result(f"no open pull request of {repository} has the head {head}; nothing is written")
        return Exit.FINE
    return _done(post(PullRequest(host, repository, number, author), text), f"#{number}")


@command.command("gitlab")
@_file
@_head
@click.option(
    "--project",
    type=click.IntRange(1),
    envvar="CI_PROJECT_ID",
    required=True,
    metavar="N",
    help="Number of the project. Default: CI_PROJECT_ID.",
)
@click.option(
    "--merge-request",
    type=click.IntRange(1),
    envvar="CI_MERGE_REQUEST_IID",
    required=True,
    metavar="N",
    help="Number of the merge request in it. Default: CI_MERGE_REQUEST_IID.",
)
@click.option(
    "--api",
    type=_address,
    envvar="CI_API_V4_URL",
    required=True,
    metavar="URL",
    help="Address of the API. Default: CI_API_V4_URL.",
)
@_token("TRAINYARD_TOKEN")
def on_gitlab(
    *, file: Path, head: str, project: int, merge_request: int, api: str, token: str
) -> int:
    """Write FILE on a merge request; TRAINYARD_TOKEN is a token with the scope `api`.

    If FILE is empty, or `trainyard diff` found nothing, an existing comment is updated and no new
    one is written.
    """
    text = _text(file)
    request = MergeRequest(gitlab(api, token), project, merge_request)
    if request.head() != head:
        result(f"!{merge_request} has another head than {head}; nothing is written")
        return Exit.FINE
    return _done(post(request, text), f"!{merge_request}")


def _done(change: str, number: str) -> int:
    result(f"{number}: nothing to write" if change == "nothing" else f"{number}: comment {change}")
    return Exit.FINE


def _text(file: Path) -> str:
    """Return the text of the comment.

    The file is often an artifact of a job that ran a stranger's commit, where a link could name a
    file of this job.

    Raises:
        NoInput: there is no such file.
        TreeError: it can't be read, is not a regular file, is too large or is not UTF-8.
    """
    try:
        content = read_named(file, _LIMIT)
    except FileNotFoundError:
        raise NoInput(f"no file {file}") from None
    except OSError as problem:
        raise TreeError(f"{file} can't be read: {problem.strerror}") from problem
    if len(content) > _LIMIT:
        raise TreeError(f"{file} has more than {_LIMIT} bytes, the most that a comment can have")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise TreeError(f"{file} is not UTF-8") from None
