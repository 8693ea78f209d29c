"""The scripts of GitLab's jobs, run as a runner would on repositories with history."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hosts.server import Host
from tests.pages import done
from tests.scaffold.pull_requests import Request, cloned, committed, files, ran

pytestmark = pytest.mark.thorough

CHECK, REVIEW, NOTE = "trainyard:check", "trainyard:review", "trainyard:note"


def _gitlab_job(name: str) -> str:
    return "\n".join(files("gitlab")[0][name]["script"])


@dataclass(frozen=True)
class Ended:
    """What the jobs of a pipeline ended with.

    Args:
        codes: exit code by job.
        said: what they printed.
    """

    codes: dict[str, int]
    said: str


def _gitlab(checkout: Path, *jobs: str, target: str = "") -> Ended:
    """Run jobs in a clone.

    Args:
        checkout: the clone.
        jobs: their names.
        target: URL of the project that the change is merged into.
    """
    variables = {
        "CI_JOB_TOKEN": "t0ken",
        "CI_MERGE_REQUEST_PROJECT_URL": target,
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_PROJECT_DIR": str(checkout),
    }
    ended = {job: ran(checkout, _gitlab_job(job), "sh -e", **variables) for job in jobs}
    said = "".join(text for _, text in ended.values())
    return Ended({job: code for job, (code, _) in ended.items()}, said)


def _project(request: Request, folder: Path) -> str:
    """Serve the origin by a path that ends with `.git`, and return what GitLab calls its URL."""
    done(folder, "git", "clone", "--quiet", "--bare", str(request.origin), "project.git")
    return (folder / "project").as_uri()


def test_gitlab_checks_and_writes_its_note(good: Request, host: Host, tmp_path: Path) -> None:
    checkout = cloned(good.origin, good.head, tmp_path)
    ended = _gitlab(checkout, CHECK, REVIEW, target=_project(good, tmp_path))
    assert ended.codes == {CHECK: 0, REVIEW: 0}, ended.said
    assert (checkout / "trainyard-code-quality.json").is_file()
    assert b"2 -&gt; 3 nodes" in (checkout / "trainyard-report.html").read_bytes()
    variables = {
        "CI_API_V4_URL": host.address,
        "CI_PROJECT_ID": "3",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_COMMIT_SHA": good.head,
        "TRAINYARD_TOKEN": "t0ken",
    }
    code, said = ran(checkout, _gitlab_job(NOTE), "sh -e", **variables)

    assert (code, said) == (0, "!7: comment created\n")
    assert "2 -> 3 nodes" in host.comments[0]["body"]


def test_gitlab_shows_everything_and_fails(stale: Request, tmp_path: Path) -> None:
    checkout = cloned(stale.origin, stale.head, tmp_path)
    ended = _gitlab(checkout, CHECK, REVIEW, target=_project(stale, tmp_path))

    assert ended.codes == {CHECK: 1, REVIEW: 1}
    assert ended.said.count("error[delivery/tree-is-stale]") == 9, "three folders, thrice"
    assert "2 -> 3 nodes" in (checkout / "trainyard-review.md").read_text("utf-8")


@pytest.mark.parametrize("forged", [False, True])
def test_gitlab_compares_a_fork_with_the_target(
    good: Request, tmp_path: Path, forged: bool
) -> None:
    """Whatever the fork's own branch of that name has: the commits of long ago, or the change
    itself."""
    team = good.origin / "profiles" / "teams" / "nlp.yaml"
    before = done(good.origin, "git", "rev-parse", "main").strip()
    text = team.read_text("utf-8")
    team.write_text(text.replace("contact: ", "contact: new-"), "utf-8")
    done(good.origin, "trainyard", "generate")
    committed(good.origin)
    target = _project(good, tmp_path)
    fork = tmp_path / "fork"
    done(fork, "git", "push", "--quiet", "--force", str(fork), f"{good.head}:refs/heads/topic")
    done(fork, "git", "checkout", "--quiet", "--detach")
    done(fork, "git", "branch", "--force", "main", good.head if forged else before)
    checkout = cloned(fork, good.head, tmp_path)
    ended = _gitlab(checkout, REVIEW, target=target)

    assert ended.codes == {REVIEW: 0}, ended.said
    review = (checkout / "trainyard-review.md").read_text("utf-8")
    assert "2 -> 3 nodes" in review
    assert "new-" not in review, "the target's own commit is not what the change does"
    assert b"2 -&gt; 3 nodes" in (checkout / "trainyard-report.html").read_bytes()


def test_gitlab_asks_for_a_private_target_by_the_token_of_the_job(
    good: Request, host: Host, tmp_path: Path
) -> None:
    """And where it is not let in, the job fails: it compares with nothing else."""
    checkout = cloned(good.origin, good.head, tmp_path)
    host.realm = "GitLab"
    ended = _gitlab(checkout, REVIEW, target=f"{host.address}/org/platform")

    assert ended.codes[REVIEW] not in {0, 1}
    assert not (checkout / "trainyard-review.md").exists()
    asked = [
        headers.get("Authorization", "") for _, path, headers in host.seen if "info/refs" in path
    ]
    assert asked[0] == ""
    assert base64.b64decode(asked[1].removeprefix("Basic ")) == b"gitlab-ci-token:t0ken"
    assert all(path.startswith("/org/platform.git/info/refs") for _, path, _ in host.seen)


def test_gitlab_checks_the_branch_after_a_merge(together: Path, tmp_path: Path) -> None:
    rules = files("gitlab")[0][CHECK]["rules"]
    assert {"if": '$CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == "main"'} in rules
    ended = _gitlab(cloned(together, "main", tmp_path), CHECK)

    assert ended.codes == {CHECK: 1}
    assert "there is no runtime `second`" in ended.said
