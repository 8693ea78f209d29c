"""The upgrade of a small platform, planned as its how-to does, on the controllers of both releases.

Each test starts control planes of its own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.pages import call, done
from tests.releases.platforms import copy_on

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

_BETWEEN = "hostile jobs refused between"
_READS = "variables.spec.?runtimePatches.orValue([])"
"""By which policies read the patches of a job."""

_POLICIES = "overlays/lab/platform/validatingadmissionpolicy-trainyard-trainjob-*.yaml"


def _commit(folder: Path, message: str) -> None:
    done(folder, "git", "add", "--all")
    done(folder, "git", "commit", "--quiet", "--message", message)


def _begun(folder: Path, release: str, runtime: str) -> Path:
    """Return a repository with two teams, and a tree that is not yet committed."""
    folder.mkdir()
    done(folder, "git", "init", "--quiet")
    done(folder, "trainyard", "init", "--release", release)
    if runtime != "openmpi":
        image = ("--image", f"registry.example.com/ml/{runtime}@sha256:{'1' * 64}")
        done(folder, "trainyard", "add", "runtime", runtime, "--launcher", runtime, *image)
    for team in ("nlp", "audio"):
        done(folder, "trainyard", "add", "team", team, "--nodes", "2")
        profile = folder / "profiles" / "teams" / f"{team}.yaml"
        text = profile.read_text(encoding="utf-8")
        text = re.sub(r"(?m)^runtimes: .*$", f"runtimes: [{runtime}]", text)
        profile.write_text(text, encoding="utf-8")
    done(folder, "trainyard", "generate")
    return folder


def _upgraded(folder: Path, release: str, cluster: str = "lab") -> None:
    """Commit the former tree, then the upgrade."""
    _commit(folder, "The platform")
    done(folder, "trainyard", "upgrade", cluster, "--to", release, "--write")
    done(folder, "trainyard", "generate")
    _commit(folder, "The upgrade")


def _rehearsed(folder: Path, cache: Path, cluster: str = "lab") -> tuple[int, list[dict[str, Any]]]:
    """Rehearse the last commit as an upgrade; return the exit code and the outcomes."""
    options = ("--upgrade-from", "HEAD~1", "--format", "json:report.json")
    ended = call(folder, "trainyard", "rehearse", *options, TRAINYARD_CACHE=str(cache))
    assert (folder / "report.json").exists(), ended.stdout
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    outcomes: list[dict[str, Any]] = report["result"]["outcomes"][cluster]
    return ended.returncode, outcomes


def _steps(outcomes: list[dict[str, Any]]) -> list[str]:
    return [each["remark"] for each in outcomes if each["promise"] == "steps as planned"]


def _assert_fine(code: int, outcomes: list[dict[str, Any]]) -> None:
    assert [each for each in outcomes if not each["fine"]] == []
    assert code == 0


def test_every_job_has_the_fate_of_the_plan(tmp_path: Path, cache: Path) -> None:
    """Kueue 0.16 and Trainer 2.1 to 0.19 and 2.3: the cluster is drained for one window."""
    folder = _begun(tmp_path / "platform", "kubernetes-1.34", "openmpi")
    _upgraded(folder, "kubernetes-1.36")
    code, outcomes = _rehearsed(folder, cache)
    _assert_fine(code, outcomes)
    server, jobset, drain, window, opening = _steps(outcomes)
    assert server.startswith("1. owner of the API server: kubernetes 1.34 -> 1.36: 2 running jobs")
    assert jobset.endswith("2 running jobs went on, 2 waiting jobs waited")
    assert drain.endswith("4 jobs evicted, then deleted")
    assert window.startswith("4. Kueue: kueue 0.16 -> 0.19; Trainer: trainer 2.1 -> 2.3; merge")
    assert window.endswith("2 waiting jobs waited")
    assert opening.startswith("5. merge `state: active`")


def test_kueue_and_trainer_are_exchanged_for_the_next_ones(tmp_path: Path, cache: Path) -> None:
    """Kueue 0.16 and Trainer 2.1 to 0.18 and 2.2: one window too, and the next Kubernetes."""
    folder = _begun(tmp_path / "platform", "kubernetes-1.34", "openmpi")
    _upgraded(folder, "kubernetes-1.35")
    code, outcomes = _rehearsed(folder, cache)
    _assert_fine(code, outcomes)
    server, jobset, drain, window, opening = _steps(outcomes)
    assert server.startswith("1. owner of the API server: kubernetes 1.34 -> 1.35: 2 running jobs")
    assert jobset.endswith("2 running jobs went on, 2 waiting jobs waited")
    assert drain.endswith("4 jobs evicted, then deleted")
    assert window.startswith("4. Kueue: kueue 0.16 -> 0.18; Trainer: trainer 2.1 -> 2.2; merge")
    assert window.endswith("2 waiting jobs waited")
    assert opening.startswith("5. merge `state: active`")


def test_openshift_ai_goes_on_while_its_gitops_is_upgraded(tmp_path: Path, cache: Path) -> None:
    """This repository's `prod-east`: Kueue and Trainer stay, so every job goes on."""
    folder = tmp_path / "platform"
    cluster = copy_on("openshift-ai-3.4", folder)
    done(folder, "git", "init", "--quiet")
    done(folder, "trainyard", "generate")
    _upgraded(folder, "openshift-ai-3.5", cluster)
    code, outcomes = _rehearsed(folder, cache, cluster)
    _assert_fine(code, outcomes)
    operator, merge = _steps(outcomes)
    assert operator.startswith("1. OpenShift GitOps operator: gitopsOperator 1.20 -> 1.21, argocd")
    for step in (operator, merge):
        assert re.search(r"[1-9]\d* running jobs went on, [1-9]\d* waiting jobs waited$", step), (
            step
        )


def test_jobs_of_mpi_are_drained_before_they_are_stuck(tmp_path: Path, cache: Path) -> None:
    """Trainer 2.2 to 2.3: what waited would never start, what ran could not be evicted."""
    folder = _begun(tmp_path / "platform", "kubernetes-1.35", "openmpi")
    _upgraded(folder, "kubernetes-1.36")
    code, outcomes = _rehearsed(folder, cache)
    _assert_fine(code, outcomes)
    *others, drain, trainer, _merge, _opening = _steps(outcomes)
    assert all(each.endswith("2 running jobs went on, 2 waiting jobs waited") for each in others)
    assert drain.endswith("4 jobs evicted, then deleted")
    assert trainer.startswith("4. Trainer: trainer 2.2 -> 2.3: ")


def test_other_jobs_go_on_and_start_after_it(tmp_path: Path, cache: Path) -> None:
    """Kueue 0.18 and Trainer 2.2 to 0.19 and 2.3, without a runtime of MPI: nothing is drained."""
    folder = _begun(tmp_path / "platform", "kubernetes-1.35", "torchrun")
    _upgraded(folder, "kubernetes-1.36")
    code, outcomes = _rehearsed(folder, cache)
    _assert_fine(code, outcomes)
    steps = _steps(outcomes)
    assert len(steps) == 4
    assert all(each.endswith("2 running jobs went on, 2 waiting jobs waited") for each in steps)


def test_tree_that_does_not_read_patches_is_found(tmp_path: Path, cache: Path) -> None:
    """As policies were that read one form of changes to pods only, until the merge."""
    folder = _begun(tmp_path / "platform", "kubernetes-1.35", "torchrun")
    edited = 0
    for path in folder.glob(_POLICIES):
        text = path.read_text(encoding="utf-8")
        edited += text.count(_READS)
        path.write_text(text.replace(_READS, "dyn([])"), encoding="utf-8")
    assert edited
    _upgraded(folder, "kubernetes-1.36")
    code, outcomes = _rehearsed(folder, cache)
    assert code == 1
    (found,) = (each for each in outcomes if not each["fine"])
    assert found["promise"] == _BETWEEN
    whats = [each["what"] for each in found["failures"]]
    assert any("after Trainer: " in what for what in whats), whats
    assert all("runtimePatches in team-" in what for what in whats), whats
    assert not any("after merge this change" in what for what in whats), whats
