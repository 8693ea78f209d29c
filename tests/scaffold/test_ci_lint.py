"""The files of CI systems, judged by the programs of their own kinds."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from tests.conftest import REPOSITORY
from tests.scaffold.test_ci import ORIGINS
from trainyard.golang import find_go, run_go
from trainyard.scaffold.ci import SYSTEMS, ci_files, write_ci
from trainyard.workflows.begin import plan_ci

pytestmark = pytest.mark.thorough

PROGRAMS = Path(sys.executable).parent
# A CI system may force colours, which stand inside the sentences that tests look for.
ZIZMOR = [str(PROGRAMS / "zizmor"), "--offline", "--color", "never"]
ACTIONLINT = REPOSITORY / ".tools" / "bin" / "actionlint"
TEKTON = "github.com/tektoncd/pipeline@v1.15.0"
CLUSTERS = ("lab", "prod-east")
ACTION = [REPOSITORY / "action.yml"]
OWN = sorted(REPOSITORY.glob(".github/workflows/*.yaml"))


def judged(*command: str | Path, cwd: Path = REPOSITORY) -> str:
    """Run a program that must find nothing, and return what it prints."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def written(name: str, folder: Path, *, pinned: bool) -> list[Path]:
    profiles = folder / "profiles/clusters"
    profiles.mkdir(parents=True, exist_ok=True)
    for cluster in CLUSTERS:
        (profiles / f"{cluster}.yaml").touch()
    root, new = plan_ci(name, folder, ORIGINS[name] if pinned else "", CLUSTERS)
    write_ci(root, new)
    return [root / path for path in (*SYSTEMS[name].files, *SYSTEMS[name].facts)]


@pytest.fixture(params=["pinned", "placeholder", "ours"])
def workflows(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    """Workflows as they are written, and our own."""
    if request.param == "ours":
        return OWN
    return written("github", tmp_path, pinned=request.param == "pinned")


def test_actionlint_finds_nothing(workflows: list[Path], tmp_path: Path) -> None:
    """Expressions, contexts, inputs of actions and permissions are right."""
    assert judged(ACTIONLINT, *workflows) == ""
    broken = tmp_path / "broken.yaml"
    broken.write_text(workflows[0].read_text("utf-8").replace("runs-on", "run-on"), "utf-8")
    found = subprocess.run([ACTIONLINT, broken], capture_output=True, text=True, check=False)
    assert "runs-on" in found.stdout


def test_zizmor_finds_nothing_but_one_trigger(tmp_path: Path) -> None:
    """Pedantic as it can be; the one trigger that can write has its reason beside it."""
    files = written("github", tmp_path, pinned=True)
    said = judged(*ZIZMOR, "--persona", "pedantic", *files)

    assert "No findings to report. Good job! (1 ignored, 1 suppressed)" in said
    (ignored,) = _ignored(*files)
    assert ignored.startswith("workflow_run: # zizmor: ignore[dangerous-triggers] the ")


def test_zizmor_finds_nothing_here() -> None:
    """Each line that is left out has a reason beside it."""
    assert "No findings" in judged(*ZIZMOR, *OWN, *ACTION)
    assert all(re.search(r"ignore\[[a-z-]+\] \w+ \w+", line) for line in _ignored(*OWN, *ACTION))


def _ignored(*files: Path) -> list[str]:
    lines = (line.strip() for file in files for line in file.read_text("utf-8").splitlines())
    return [line for line in lines if "zizmor: ignore" in line]


def test_zizmor_sees_what_would_be_wrong(tmp_path: Path) -> None:
    """The programs that found nothing do look."""
    _, comment, _ = written("github", tmp_path, pinned=True)
    comment.write_text(comment.read_text("utf-8").replace("# zizmor: ignore", "# ignore"), "utf-8")
    found = subprocess.run(
        [*ZIZMOR, "--format", "json", comment],
        capture_output=True,
        text=True,
        check=False,
    )

    assert {each["ident"] for each in json.loads(found.stdout)} == {"dangerous-triggers"}


def test_workflows_fit_their_schema(workflows: list[Path]) -> None:
    judged(PROGRAMS / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)


def test_gitlab_files_fit_their_schema(tmp_path: Path) -> None:
    files = written("gitlab", tmp_path, pinned=True)
    options = ("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci")
    judged(PROGRAMS / "check-jsonschema", *options, *files)


@pytest.fixture(scope="session")
def crds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Tekton's own schemas of version v1, by kind, closed to fields that they don't have."""
    folder = tmp_path_factory.mktemp("go")
    module = json.loads(run_go(find_go(), folder, "mod", "download", "-json", TEKTON))
    schemas = {}
    for kind in ("Task", "Pipeline"):
        file = Path(module["Dir"]) / "config" / "300-crds" / f"300-{kind.lower()}.yaml"
        (version,) = (
            each
            for each in yaml.safe_load(file.read_text("utf-8"))["spec"]["versions"]
            if each["name"] == "v1"
        )
        schemas[kind] = closed(version["schema"]["openAPIV3Schema"])
    return schemas


def closed(schema: Any) -> Any:
    """Return a schema that refuses what the API server would drop or the webhook refuse."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if schema.get("x-kubernetes-int-or-string"):
        result.pop("type", None)
    keeps = schema.get("x-kubernetes-preserve-unknown-fields")
    if isinstance(schema.get("properties"), dict) and "type" in schema and not keeps:
        result.setdefault("additionalProperties", False)
    return result


def faults(schemas: dict[str, Any], objects: list[Any]) -> Iterator[str]:
    for each in objects:
        for fault in Draft7Validator(schemas[each["kind"]]).iter_errors(each):
            yield f"{each['kind']} {fault.json_path}: {fault.message}"


def test_tekton_objects_fit_their_schemas(crds: dict[str, Any], tmp_path: Path) -> None:
    """Task and Pipeline have no field that Tekton does not have, and none of another type."""
    files = written("tekton", tmp_path, pinned=True)
    objects = [each for file in files for each in yaml.safe_load_all(file.read_text("utf-8"))]

    assert [each["kind"] for each in objects] == ["Task", "Pipeline", "Task", "Task"]
    assert list(faults(crds, objects)) == []
    objects[0]["spec"]["steps"][0]["scripts"] = "x"
    objects[1]["spec"]["tasks"][0]["timeout"] = 15
    assert len(list(faults(crds, objects))) == 2


def test_pipeline_gives_the_task_what_it_declares(tmp_path: Path) -> None:
    """Names that no schema compares."""
    file, _ = written("tekton", tmp_path, pinned=True)
    task, pipeline = yaml.safe_load_all(file.read_text("utf-8"))
    (used,) = pipeline["spec"]["tasks"]

    assert used["taskRef"]["name"] == task["metadata"]["name"]
    assert [each["name"] for each in used["params"]] == [
        each["name"] for each in task["spec"]["params"]
    ]
    assert pipeline["spec"]["params"] == task["spec"]["params"]
    assert {each["name"]: each["workspace"] for each in used["workspaces"]} == {"source": "source"}


def test_action_fits_its_schema() -> None:
    judged(PROGRAMS / "check-jsonschema", "--builtin-schema", "vendor.github-actions", *ACTION)


def test_this_repository_uses_the_workflow_that_it_ships() -> None:
    """With the checkout in the place of a pinned commit."""
    name = ".github/workflows/trainyard.yaml"
    system = SYSTEMS["github"]
    shipped = ci_files(system, ".", "main")[name].decode().replace(system.placeholder, "./")
    own = (REPOSITORY / name).read_text("utf-8")

    assert re.sub(r"(uses: \./) # .+", r"\1", own) == shipped


def test_actions_are_pinned_by_the_same_commits() -> None:
    """One commit for each action and version, wherever it is used."""
    shipped = b"".join(ci_files(SYSTEMS["github"], ".", "main").values()).decode()
    every = [shipped, *(path.read_text("utf-8") for path in (*OWN, *ACTION))]
    uses = re.findall(r"uses: (actions/\S+)@(\S+) # (\S+)", "\n".join(every))

    assert all(re.fullmatch("[0-9a-f]{40}", commit) for _, commit, _ in uses)
    assert all(re.fullmatch(r"v\d+\.\d+\.\d+", version) for *_, version in uses)
    assert len({name for name, *_ in uses}) == len(set(uses))


def _steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = yaml.safe_load(ACTION[0].read_text("utf-8"))["runs"]["steps"]
    return steps


def test_action_puts_the_programs_into_the_path(tmp_path: Path) -> None:
    """Its scripts, as a runner starts them, with the pinned dependencies from the registry."""
    action = tmp_path / "action"
    judged("git", "clone", "--quiet", str(REPOSITORY), str(action))
    for name in ("requirements", "action.yml", "pyproject.toml", "generator", "templates"):
        judged("cp", "-rT", str(REPOSITORY / name), str(action / name))
    paths, outputs = tmp_path / "paths", tmp_path / "outputs"
    environment = {
        **os.environ,
        "GITHUB_ACTION_PATH": str(action),
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_PATH": str(paths),
        "PYTHON": sys.executable,
        "RUNNER_TEMP": str(tmp_path),
    }
    environment.pop("PYTHONPATH", None)
    for step in _steps():
        if "run" in step:
            command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
            subprocess.run(command, env=environment, check=True)
    pins = (REPOSITORY / "requirements/install-tools.sh").read_bytes()
    assert outputs.read_text("utf-8") == f"digest={hashlib.sha256(pins).hexdigest()}\n"
    programs, tools = paths.read_text("utf-8").splitlines()
    found = sorted(each.name for part in (programs, tools) for each in Path(part).iterdir())
    assert found == ["kubeconform", "kustomize", "trainyard"]

    environment["PATH"] = f"{tools}:{programs}:{os.environ['PATH']}"
    script = (
        "trainyard init new && cd new && trainyard add team nlp --nodes 2 && trainyard generate"
    )
    subprocess.run(
        ["bash", "-ec", f"{script} && trainyard verify"], cwd=tmp_path, env=environment, check=True
    )
    assert (tmp_path / "new/overlays/lab/trainyard.lock").is_file()


def test_action_builds_only_what_the_cache_lacks() -> None:
    """What is stored is what is looked for, under a name that has the pinned versions; nothing of
    it happens where `verify` will not run."""
    steps = _steps()
    uses = {step["uses"].split("@")[0]: step for step in steps if "uses" in step}
    (build,) = (step for step in steps if 'install-tools.sh" "' in step.get("run", ""))
    restored, saved = uses["actions/cache/restore"], uses["actions/cache/save"]
    missed = "inputs.tools == 'true' && steps.cache.outputs.cache-hit != 'true'"

    assert (restored["id"], restored["if"]) == ("cache", "inputs.tools == 'true'")
    assert restored["with"] == saved["with"]
    assert "${{ steps.pins.outputs.digest }}" in restored["with"]["key"]
    assert restored["with"]["path"] == "${{ runner.temp }}/trainyard-tools"
    assert '"$RUNNER_TEMP/trainyard-tools"' in build["run"]
    assert [saved["if"], build["if"], uses["actions/setup-go"]["if"]] == [missed] * 3
