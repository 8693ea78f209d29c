"""The scripts of GitHub and Tekton, run as a runner would on repositories with history."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.server import Host
from tests.pages import done
from tests.scaffold.pull_requests import FORK, Request, files, ran, requested
from trainyard.hosts.sticky import NOTHING

pytestmark = pytest.mark.thorough


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


def _checked(checkout: Path, summary: Path, event: str = "pull_request") -> dict[str, int]:
    """Return the exit code of each check of the workflow by its command."""
    (job,) = files("github")[0]["jobs"].values()
    steps = (step for step in job["steps"] if "run" in step)
    scripts = [step["run"] for step in steps if event != "push" or _NO_PUSH not in _if(step)]
    shell = "bash --noprofile --norc -eo pipefail"
    return {
        script.split()[1]: ran(
            checkout,
            script,
            shell,
            BASE="HEAD^1",
            GITHUB_STEP_SUMMARY=str(summary),
            RUNNER_TEMP=str(summary.parent),
        )[0]
        for script in scripts
    }


_NO_PUSH = "github.event_name != 'push'"


def _if(step: dict[str, Any]) -> str:
    return str(step.get("if", ""))


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


def _pushed(origin: Path, folder: Path) -> Path:
    """Check the branch out after a push, as actions/checkout does."""
    done(folder, "git", "init", "--quiet", "pushed")
    checkout = folder / "pushed"
    done(checkout, "git", "fetch", "--quiet", "--depth", "2", origin.as_uri(), "main")
    done(checkout, "git", "checkout", "--quiet", "--detach", "FETCH_HEAD")
    return checkout


def test_github_checks_the_branch_after_a_merge(together: Path, tmp_path: Path) -> None:
    """Two pull requests, right alone and merged without a conflict, are wrong together; the run on
    the branch says so, and reviews nothing."""
    codes = _checked(_pushed(together, tmp_path), tmp_path / "summary.md", "push")

    assert codes == {"validate": 1, "generate": 1, "verify": 1, "codeowners": 1}
    assert "there is no runtime `second`" in (tmp_path / "summary.md").read_text("utf-8")


def test_github_runs_on_the_branch_of_argo_cd_only() -> None:
    """A run on another branch, skipped or not, would count as the required check of its pull
    request."""
    workflow = files("github")[0]
    assert workflow[True]["push"] == {"branches": ["main"]}, "YAML 1.1 reads `on` as true"
    (job,) = workflow["jobs"].values()
    assert "if" not in job
    reviews = [step.get("run") or step["uses"] for step in job["steps"] if _NO_PUSH in _if(step)]
    words = ("trainyard diff ", "trainyard report ", "actions/upload-artifact@")
    assert [review.startswith(word) for review, word in zip(reviews, words, strict=True)] == [
        True
    ] * 3


def _reviewed(request: Request, checkout: Path, folder: Path) -> dict[str, str]:
    """Run the first job of the comment's workflow; return its outputs."""
    review = files("github")[1]["jobs"]["review"]
    output = folder / "output"
    output.touch()
    for step in (each for each in review["steps"] if "run" in each):
        code, said = ran(
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
    (step,) = (each for each in files("github")[1]["jobs"]["comment"]["steps"] if "run" in each)
    code, said = ran(
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
    request = requested(platform, tmp_path / "page", nodes=2, generated=False)
    checkout = tmp_path / "checkout-of-main"
    done(tmp_path, "git", "clone", "--quiet", request.origin.as_uri(), str(checkout))
    review = _reviewed(request, checkout, tmp_path)["review"]
    host.pulls[0]["head"]["sha"] = request.head

    assert base64.b64decode(review, validate=True).decode().startswith(NOTHING)
    assert "nothing to write" in _commented(request, host, review, tmp_path)
    assert host.comments == []


def _tekton(origin: Path, revision: str, folder: Path, base: str = "main") -> tuple[int, str]:
    """Run the steps of the Task as its containers would, up to the first that fails."""
    task = files("tekton")[0]["spec"]
    values = {
        "$(workspaces.source.path)": str(folder),
        "$(params.url)": origin.as_uri(),
        "$(params.revision)": revision,
        "$(params.base)": base,
    }
    every = ""
    for step in task["steps"]:
        variables = {each["name"]: _filled(each["value"], values) for each in step.get("env", ())}
        where = Path(_filled(step.get("workingDir", task["stepTemplate"]["workingDir"]), values))
        code, said = ran(where, _filled(step["script"], values), "sh", **variables)
        every += said
        if code:
            return code, every
    return 0, every


def _filled(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def test_tekton_checks_and_writes_the_review(good: Request, tmp_path: Path) -> None:
    code, said = _tekton(good.origin, good.head, tmp_path)

    assert code == 0, said
    assert "2 -> 3 nodes" in (tmp_path / "trainyard-review.md").read_text("utf-8")
    assert b"2 -&gt; 3 nodes" in (tmp_path / "trainyard-report.html").read_bytes()


def test_tekton_shows_everything_and_fails(stale: Request, tmp_path: Path) -> None:
    code, said = _tekton(stale.origin, stale.head, tmp_path)

    assert code == 1
    assert said.count("error[delivery/tree-is-stale]") == 9


def test_tekton_checks_the_branch_after_a_merge(together: Path, tmp_path: Path) -> None:
    """With the pushed commit as the revision, whose comparison with its own branch is empty."""
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    done(together, "git", "branch", "one", "main^")

    code, said = _tekton(together, "one", tmp_path / "before", base="one")
    assert code == 0, said
    assert NOTHING in (tmp_path / "before" / "trainyard-review.md").read_text("utf-8")
    code, said = _tekton(together, "main", tmp_path / "after")
    assert code == 1
    assert "there is no runtime `second`" in said
