"""The scripts in the files of CI systems, run as a runner would on repositories with history."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hosts.server import Host, serving
from tests.pages import call, done
from tests.scaffold.test_ci import ORIGINS
from trainyard.hosts.sticky import NOTHING
from trainyard.scaffold.ci import SYSTEMS, ci_files

pytestmark = pytest.mark.thorough

FORK = "somebody/platform"


@dataclass(frozen=True)
class Request:
    """A pull request whose branch is in a fork.

    Args:
        origin: repository of the platform; it has the commit as `refs/pull/7/head`.
        head: its commit.
    """

    origin: Path
    head: str


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a platform with one team."""
    folder = tmp_path_factory.mktemp("origin")
    done(folder, "git", "init", "--quiet", "--initial-branch", "main")
    done(folder, "trainyard", "init")
    done(folder, "trainyard", "add", "team", "nlp", "--nodes", "2")
    done(folder, "trainyard", "generate")
    # As GitHub's server: a commit of a pull request can be fetched by its id.
    done(folder, "git", "config", "uploadpack.allowAnySHA1InWant", "true")
    _commit(folder)
    return folder


def _commit(folder: Path) -> str:
    done(folder, "git", "add", "--all")
    done(folder, "git", "commit", "--quiet", "--message", "x")
    return done(folder, "git", "rev-parse", "HEAD").strip()


def _requested(platform: Path, tmp_path: Path, *, nodes: int, generated: bool) -> Request:
    """Return a request that changes the quota of the team, with the tree or without."""
    tmp_path.mkdir(exist_ok=True)
    origin, fork = tmp_path / "origin", tmp_path / "fork"
    done(tmp_path, "cp", "-r", str(platform), str(origin))
    done(tmp_path, "git", "clone", "--quiet", str(origin), str(fork))
    team = fork / "profiles" / "teams" / "nlp.yaml"
    text = team.read_text("utf-8")
    assert "nodes: 2" in text
    team.write_text(text.replace("nodes: 2", f"nodes: {nodes}"), encoding="utf-8")
    (fork / "page.md").touch()
    if generated:
        done(fork, "trainyard", "generate")
    head = _commit(fork)
    done(fork, "git", "push", "--quiet", "origin", f"{head}:refs/pull/7/head")
    return Request(origin, head)


@pytest.fixture
def good(platform: Path, tmp_path: Path) -> Request:
    return _requested(platform, tmp_path, nodes=3, generated=True)


@pytest.fixture
def stale(platform: Path, tmp_path: Path) -> Request:
    return _requested(platform, tmp_path, nodes=3, generated=False)


@pytest.fixture
def host(good: Request) -> Iterator[Host]:
    pull = {"number": 7, "head": {"sha": good.head, "repo": {"full_name": FORK}}}
    with serving(Host(pulls=[pull], sha=good.head)) as it:
        yield it


def _files(name: str) -> list[Any]:
    bodies = ci_files(SYSTEMS[name], ".", ORIGINS[name]).values()
    return [each for body in bodies for each in yaml.safe_load_all(body)]


def _run(folder: Path, script: str, shell: str = "bash", **variables: str) -> tuple[int, str]:
    """Run a script as a runner does; return its exit code and output."""
    given = [f"{key}={value}" for key, value in variables.items()]
    ended = call(folder, "env", *given, *shlex.split(shell), "-c", script)
    return ended.returncode, ended.stdout


def _merged(request: Request, folder: Path) -> Path:
    """Check the merge result out, with its parents and no more history, as actions/checkout."""
    done(request.origin, "git", "checkout", "--quiet", "--detach", "main")
    done(request.origin, "git", "merge", "--quiet", "--no-ff", "-m", "Merge", "refs/pull/7/head")
    done(request.origin, "git", "update-ref", "refs/pull/7/merge", "HEAD")
    done(request.origin, "git", "checkout", "--quiet", "main")
    done(folder, "git", "init", "--quiet", "checkout")
    checkout = folder / "checkout"
    source = request.origin.as_uri()
    done(checkout, "git", "fetch", "--quiet", "--depth", "2", source, "refs/pull/7/merge")
    done(checkout, "git", "checkout", "--quiet", "--detach", "FETCH_HEAD")
    return checkout


def _checked(checkout: Path, summary: Path) -> dict[str, int]:
    """Return the exit code of each check of the workflow by its command."""
    (job,) = _files("github")[0]["jobs"].values()
    scripts = [step["run"] for step in job["steps"] if "run" in step]
    shell = "bash --noprofile --norc -eo pipefail"
    return {
        script.split()[1]: _run(
            checkout,
            script,
            shell,
            BASE="HEAD^1",
            GITHUB_STEP_SUMMARY=str(summary),
            RUNNER_TEMP=str(summary.parent),
        )[0]
        for script in scripts
    }


def test_github_checks_the_merge_result(good: Request, tmp_path: Path) -> None:
    """And the summary shows reviewers what the change does."""
    summary = tmp_path / "summary.md"
    codes = _checked(_merged(good, tmp_path), summary)

    names = ("validate", "generate", "verify", "codeowners", "diff", "report")
    assert codes == dict.fromkeys(names, 0)
    assert b"2 -&gt; 3 nodes" in (tmp_path / "trainyard-report.html").read_bytes()
    assert "2 -> 3 nodes" in summary.read_text("utf-8")


def test_github_refuses_a_tree_that_is_not_generated(stale: Request, tmp_path: Path) -> None:
    codes = _checked(_merged(stale, tmp_path), tmp_path / "summary.md")

    assert (codes["validate"], codes["generate"], codes["verify"]) == (0, 1, 1)


def _reviewed(request: Request, checkout: Path, folder: Path) -> dict[str, str]:
    """Run the first job of the comment's workflow; return its outputs."""
    review = _files("github")[1]["jobs"]["review"]
    output = folder / "output"
    output.touch()
    for step in (each for each in review["steps"] if "run" in each):
        code, said = _run(
            checkout,
            step["run"],
            "bash --noprofile --norc -eo pipefail",
            GITHUB_OUTPUT=str(output),
            HEAD=request.head,
            RUNNER_TEMP=str(folder),
            TOKEN="t0ken",
        )
        assert code == 0, said
    return dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines())


def _commented(request: Request, host: Host, review: str, folder: Path) -> str:
    (step,) = (each for each in _files("github")[1]["jobs"]["comment"]["steps"] if "run" in each)
    code, said = _run(
        folder,
        step["run"],
        "bash --noprofile --norc -eo pipefail",
        GITHUB_API_URL=host.address,
        GITHUB_REPOSITORY="org/platform",
        GITHUB_TOKEN="t0ken",
        HEAD=request.head,
        HEAD_BRANCH="main",
        HEAD_REPOSITORY=FORK,
        REVIEW=review,
        RUNNER_TEMP=str(folder),
    )
    assert code == 0, said
    return said


def test_github_comment_shows_what_the_commit_does(
    good: Request, host: Host, tmp_path: Path
) -> None:
    """Rendered again from the commit, of which nothing is checked out; and written once."""
    checkout = tmp_path / "checkout"
    done(tmp_path, "git", "clone", "--quiet", good.origin.as_uri(), str(checkout))
    outputs = _reviewed(good, checkout, tmp_path)

    assert list(outputs) == ["review"]
    assert "2 -> 3 nodes" in base64.b64decode(outputs["review"], validate=True).decode()
    assert done(checkout, "git", "status", "--porcelain") == ""
    assert done(checkout, "git", "rev-parse", "HEAD") == done(checkout, "git", "rev-parse", "main")
    assert "comment created" in _commented(good, host, outputs["review"], tmp_path)
    assert "nothing to write" in _commented(good, host, outputs["review"], tmp_path)
    (comment,) = host.comments
    assert "2 -> 3 nodes" in comment["body"]


def test_change_without_effect_is_no_comment(platform: Path, host: Host, tmp_path: Path) -> None:
    """A pull request that edits a page does not flood its reviewers."""
    request = _requested(platform, tmp_path / "page", nodes=2, generated=False)
    checkout = tmp_path / "checkout-of-main"
    done(tmp_path, "git", "clone", "--quiet", request.origin.as_uri(), str(checkout))
    review = _reviewed(request, checkout, tmp_path)["review"]
    host.pulls[0]["head"]["sha"] = request.head

    assert base64.b64decode(review, validate=True).decode().startswith(NOTHING)
    assert "nothing to write" in _commented(request, host, review, tmp_path)
    assert host.comments == []


def _gitlab_job(name: str) -> str:
    return "\n".join(_files("gitlab")[0][name]["script"])


def _gitlab(request: Request, folder: Path) -> tuple[Path, int, str]:
    checkout = folder / "checkout"
    done(folder, "git", "clone", "--quiet", request.origin.as_uri(), str(checkout))
    done(checkout, "git", "fetch", "--quiet", "origin", "refs/pull/7/head")
    done(checkout, "git", "checkout", "--quiet", "--detach", "FETCH_HEAD")
    variables = {
        "CI_PROJECT_DIR": str(checkout),
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    }
    return checkout, *_run(checkout, _gitlab_job("trainyard:check"), "sh -e", **variables)


def test_gitlab_checks_and_writes_its_note(good: Request, host: Host, tmp_path: Path) -> None:
    checkout, code, said = _gitlab(good, tmp_path)
    assert code == 0, said
    assert (checkout / "trainyard-code-quality.json").is_file()
    assert b"2 -&gt; 3 nodes" in (checkout / "trainyard-report.html").read_bytes()
    variables = {
        "CI_API_V4_URL": host.address,
        "CI_PROJECT_ID": "3",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_COMMIT_SHA": good.head,
        "TRAINYARD_TOKEN": "t0ken",
    }
    code, said = _run(checkout, _gitlab_job("trainyard:note"), "sh -e", **variables)

    assert (code, said) == (0, "!7: comment created\n")
    assert "2 -> 3 nodes" in host.comments[0]["body"]


def test_gitlab_shows_everything_and_fails(stale: Request, tmp_path: Path) -> None:
    checkout, code, said = _gitlab(stale, tmp_path)

    assert code == 1
    assert said.count("error[delivery/tree-is-stale]") == 9, "three folders, thrice"
    assert "2 -> 3 nodes" in (checkout / "trainyard-review.md").read_text("utf-8")


def _tekton(request: Request, folder: Path) -> tuple[int, str]:
    """Run the steps of the Task as its containers would, up to the first that fails."""
    task = _files("tekton")[0]["spec"]
    values = {
        "$(workspaces.source.path)": str(folder),
        "$(params.url)": request.origin.as_uri(),
        "$(params.revision)": request.head,
        "$(params.base)": "main",
    }
    every = ""
    for step in task["steps"]:
        variables = {each["name"]: _filled(each["value"], values) for each in step.get("env", ())}
        where = Path(_filled(step.get("workingDir", task["stepTemplate"]["workingDir"]), values))
        code, said = _run(where, _filled(step["script"], values), "sh", **variables)
        every += said
        if code:
            return code, every
    return 0, every


def _filled(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def test_tekton_checks_and_writes_the_review(good: Request, tmp_path: Path) -> None:
    code, said = _tekton(good, tmp_path)

    assert code == 0, said
    assert "2 -> 3 nodes" in (tmp_path / "trainyard-review.md").read_text("utf-8")
    assert b"2 -&gt; 3 nodes" in (tmp_path / "trainyard-report.html").read_bytes()


def test_tekton_shows_everything_and_fails(stale: Request, tmp_path: Path) -> None:
    code, said = _tekton(stale, tmp_path)

    assert code == 1
    assert said.count("error[delivery/tree-is-stale]") == 9
