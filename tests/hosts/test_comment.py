"""``trainyard comment`` against a host's API."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hosts.server import BOT, Host, serving
from trainyard.cli.main import run
from trainyard.hosts.sticky import MARKER, NO_EFFECT, NOTHING, Comment, sticky

HEAD, OTHER = "a" * 40, "b" * 40
FORK = "somebody/platform"
TOKEN = "t0ken"
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def host() -> Iterator[Host]:
    with serving(Host(pulls=[pull()], sha=HEAD)) as it:
        yield it


def pull(number: int = 7, sha: str = HEAD, repository: str = FORK) -> dict[str, Any]:
    return {"number": number, "head": {"sha": sha, "repo": {"full_name": repository}}}


def comment(number: int, body: str, user: dict[str, str] | None = None) -> dict[str, Any]:
    return {"id": number, "body": body, "user": user or BOT, "author": {"id": 99}}


@pytest.fixture
def call(
    host: Host,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Call:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("TRAINYARD_TOKEN", TOKEN)
    monkeypatch.setenv("GITHUB_API_URL", host.address)
    monkeypatch.setenv("CI_API_V4_URL", host.address)
    monkeypatch.setenv("GITHUB_REPOSITORY", "org/platform")
    monkeypatch.setenv("CI_PROJECT_ID", "3")
    monkeypatch.setenv("CI_MERGE_REQUEST_IID", "7")
    file = tmp_path / "review.md"

    def write(which: str, text: str | bytes, *more: str, name: str = "") -> tuple[int, str, str]:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        fork = ("--head-repository", FORK, "--head-branch", "a branch&state=closed")
        options = fork if which == "github" else ()
        code = run(["comment", which, name or str(file), "--head", HEAD, *options, *more])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return write


@pytest.mark.parametrize(("which", "sign"), [("github", "#"), ("gitlab", "!")])
def test_comment_is_created_once_then_updated(
    host: Host, call: Call, which: str, sign: str
) -> None:
    """A second commit edits it, and the same text writes nothing."""
    assert call(which, "first") == (0, f"{sign}7: comment created\n", "")
    assert call(which, "first") == (0, f"{sign}7: nothing to write\n", "")
    assert call(which, "second") == (0, f"{sign}7: comment updated\n", "")
    assert [each["body"] for each in host.comments] == [f"{MARKER}\nsecond\n"]


@pytest.mark.parametrize("which", ["github", "gitlab"])
def test_change_without_effect_writes_no_new_comment(host: Host, call: Call, which: str) -> None:
    """It corrects the one that is there."""
    assert call(which, "")[0] == 0
    assert host.comments == []
    call(which, "drains 16 nodes")
    assert call(which, " \n")[0] == 0
    assert [each["body"] for each in host.comments] == [f"{MARKER}\n{NO_EFFECT}\n"]
    assert call(which, f"{NOTHING}\n\nnothing changes\n")[1].endswith("nothing to write\n")


def test_marker_of_somebody_else_is_not_ours(host: Host, call: Call) -> None:
    """Whoever posts the marker can't capture the comment, nor a bot of another name."""
    people = [
        {"login": "eve", "type": "User"},
        {"login": "github-actions[bot]", "type": "User"},
        {"login": "other[bot]", "type": "Bot"},
    ]
    foreign = [comment(n, f"{MARKER}\nfine", user) for n, user in enumerate(people, start=1)]
    own = [comment(50, f"quoted: {MARKER}"), comment(60, f"{MARKER}\nold"), comment(61, MARKER)]
    host.comments = [*foreign, *own]
    call("github", "new")

    bodies = [each["body"] for each in host.comments]
    assert bodies == [*(f"{MARKER}\nfine",) * 3, f"quoted: {MARKER}", f"{MARKER}\nnew\n", MARKER]


def test_note_of_another_account_is_not_ours(host: Host, call: Call) -> None:
    host.comments = [{**comment(1, f"{MARKER}\nfine"), "author": {"id": 5}}]
    call("gitlab", "new")

    assert [each["body"] for each in host.comments] == [f"{MARKER}\nfine", f"{MARKER}\nnew\n"]


def test_comment_is_found_on_a_later_page(host: Host, call: Call) -> None:
    """A long discussion does not make a second comment."""
    host.comments = [*(comment(n, "talk") for n in range(1, 301)), comment(400, MARKER)]
    assert call("github", "new") == (0, "#7: comment updated\n", "")


@pytest.mark.parametrize(
    "pulls",
    [
        [],
        [pull(sha=OTHER)],
        [pull(repository="eve/platform")],
        [{"number": 7, "head": {"sha": HEAD, "repo": None}}],
    ],
)
def test_request_that_moved_on_is_left_alone(
    host: Host, call: Call, pulls: list[dict[str, Any]]
) -> None:
    """A newer commit has a run of its own; a commit of a deleted fork has no request."""
    host.pulls = pulls
    code, out, _ = call("github", "new")

    assert (code, host.comments) == (0, [])
    assert out == f"no open pull request of org/platform has the head {HEAD}; nothing is written\n"


def test_merge_request_that_moved_on_is_left_alone(host: Host, call: Call) -> None:
    host.sha = OTHER
    assert call("gitlab", "new")[0] == 0
    assert host.comments == []


def test_right_request_is_chosen(host: Host, call: Call) -> None:
    """Another one of the same fork is open too."""
    host.pulls = [pull(5, OTHER), pull(6, HEAD, "eve/platform"), pull(7)]
    assert call("github", "new") == (0, "#7: comment created\n", "")


@pytest.mark.parametrize("which", ["github", "gitlab"])
def test_redirect_is_not_followed(host: Host, call: Call, which: str) -> None:
    """The token reaches no other host."""
    with serving(Host()) as other:
        host.redirect = f"{other.address}/user"
        code, _, err = call(which, "new")

    assert code == 4
    assert "the host answered 302" in err
    assert TOKEN not in err
    assert other.seen == []


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[" * 100_000, b"\xff"])
def test_answer_that_is_no_json_is_a_sentence(host: Host, call: Call, answer: bytes) -> None:
    host.raw = answer
    code, _, err = call("github", "new")

    assert (code, err.count("\n")) == (5, 1)
    assert "the answer is not JSON" in err


@pytest.mark.parametrize(
    ("which", "answer"),
    [
        ("github", "{}"),
        ("github", "[null]"),
        ("github", '[{"number": 7}]'),
        ("github", '[{"number": 7, "head": []}]'),
        ("github", f'[{{"head": {{"sha": "{HEAD}", "repo": {{"full_name": "{FORK}"}}}}}}]'),
        ("github", f'[{{"number": {"9" * 5000}}}]'),
        ("gitlab", "[]"),
        ("gitlab", "null"),
        ("gitlab", '{"sha": 1}'),
        ("gitlab", f'{{"sha": "{HEAD}", "id": "1"}}'),
        ("gitlab", f'{{"sha": "{HEAD}", "id": 1}}'),
    ],
)
def test_answer_of_another_shape_is_a_sentence(
    host: Host, call: Call, which: str, answer: str
) -> None:
    """A proxy may answer in place of the host; that is not a bug of Trainyard."""
    host.raw = answer.encode()
    code, _, err = call(which, "new")

    assert (code, err.count("\n")) == (5, 1)


@pytest.mark.parametrize(
    ("which", "comments"),
    [
        ("github", [None]),
        ("github", [{"user": BOT, "body": MARKER}]),
        ("gitlab", [{"id": 1, "body": MARKER}]),
    ],
)
def test_comments_of_another_shape_are_a_sentence(
    host: Host, call: Call, which: str, comments: list[Any]
) -> None:
    host.comments = comments
    assert call(which, "new")[0] == 5


def test_answer_that_is_no_http_is_a_sentence(call: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            client = server.accept()[0]
            with client:
                client.recv(1)
                client.sendall(b"no HTTP\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        code, _, err = call("github", "new", "--api", f"http://127.0.0.1:{server.getsockname()[1]}")
        thread.join()

    assert (code, err.count("\n")) == (5, 1)


def test_refusal_is_a_sentence(call: Call) -> None:
    code, _, err = call("github", "new", "--repository", "org/other")

    assert code == 4
    assert "/repos/org/other/pulls: the host answered 404" in err


def test_host_that_is_not_there_is_a_sentence(call: Call) -> None:
    code, _, err = call("github", "new", "--api", "http://127.0.0.1:1")

    assert code == 4
    assert "Connection refused" in err


@pytest.mark.parametrize(
    "option",
    [
        ("--repository", "../../user"),
        ("--repository", "org/../x"),
        ("--head-repository", "org/a/b"),
        ("--head", "HEAD"),
        ("--api", "file:///etc/passwd"),
        ("--api", "http://host/?x="),
        ("--api", "http://[::1"),
        ("--api", "http://[x]/"),
        ("--api", "http://host:99999"),
        ("--api", "http://host:x"),
        ("--api", "http://me:secret@host"),
        ("--api", "https://:443"),
        ("--head-branch", "\udcff"),
        ("--head-branch", "a\nb"),
        ("--head-branch", ""),
    ],
)
def test_option_of_another_form_is_refused(call: Call, host: Host, option: tuple[str, str]) -> None:
    """It would end up in the address of a request."""
    assert call("github", "new", *option)[0] == 2
    assert host.seen == []


def test_token_is_needed(call: Call, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    assert call("github", "new")[0] == 2
    assert host.seen == []


@pytest.mark.parametrize("address", [f"http://{'a' * 64}.example.com", "http://a..b"])
def test_address_that_no_host_has_is_a_sentence(call: Call, address: str) -> None:
    code, _, err = call("github", "new", "--api", address)
    assert (code, err.count("\n")) == (4, 1)


@pytest.mark.parametrize("token", [f"{TOKEN}\n", f"{TOKEN} x", f"\x1b{TOKEN}", f"{TOKEN}\u20ac"])
@pytest.mark.parametrize(
    "account", [("github", "GITHUB_TOKEN"), ("gitlab", "TRAINYARD_TOKEN")], ids=lambda each: each[0]
)
def test_token_that_no_header_takes_is_refused_and_not_shown(
    call: Call, host: Host, monkeypatch: pytest.MonkeyPatch, token: str, account: tuple[str, str]
) -> None:
    """A secret that was pasted with its line break is the usual case."""
    which, variable = account
    monkeypatch.setenv(variable, token)
    code, _, err = call(which, "new")

    assert (code, host.seen) == (2, [])
    assert variable in err
    assert TOKEN not in err


@pytest.mark.parametrize("which", ["github", "gitlab"])
@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.symlink_to("/proc/self/environ"),
        lambda path: path.symlink_to("/dev/zero"),
        os.mkfifo,
        Path.mkdir,
    ],
    ids=["environment", "endless", "FIFO", "folder"],
)
def test_artifact_that_is_no_regular_file_is_not_read(
    host: Host, call: Call, tmp_path: Path, which: str, make: Callable[[Path], None]
) -> None:
    """A job that ran a stranger's commit wrote it: a link would post what this job may read."""
    make(tmp_path / "artifact.md")
    for name in (tmp_path / "artifact.md", os.path.relpath(tmp_path / "artifact.md")):
        assert call(which, "", name=str(name))[0] == (2 if make is Path.mkdir else 5)
    assert host.seen == []


def test_artifact_behind_a_linked_folder_is_not_read(
    host: Host, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is of the artifact too, unless the path begins at the root."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("folder/a.md").write_text("new", encoding="utf-8")
    Path("link").symlink_to("folder")

    assert call("gitlab", "", name="link/a.md")[0] == 5
    assert host.seen == []
    assert call("gitlab", "", name="folder/a.md")[0] == 0


@pytest.mark.parametrize("text", [b"\xff", b"a" * 65_001])
def test_file_that_is_no_comment_is_refused(call: Call, host: Host, text: bytes) -> None:
    assert call("github", text)[0] == 5
    assert host.seen == []


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["", "x", f"x{MARKER}", MARKER]))))
def test_oldest_of_our_own_is_taken(comments: list[tuple[bool, str]]) -> None:
    """And none that has only the author, or only the marker."""
    every = [Comment(number, own, body) for number, (own, body) in enumerate(comments)]
    right = [each.id for each in every if each.own and each.body == MARKER]
    found = sticky(every)

    assert (found.id if found else None) == (right[0] if right else None)
