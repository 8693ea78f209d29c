"""The job that reads a cluster at its site, and the check of a pull request with what it read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from tests.scaffold.test_ci import NAMES, ORIGINS
from trainyard.cli.main import run
from trainyard.scaffold.ci import SYSTEMS, ci_files

CLUSTERS = ("lab", "prod-east", "lab")
BRANCH = "trainyard-facts/lab"
_STAND_IN = """\
#!{python}
import json, sys
from pathlib import Path
arguments = sys.argv[1:]
with Path({calls!r}).open("a") as file:
    print(json.dumps(arguments), file=file)
if arguments[0] == "facts":
    Path(arguments[-1].removeprefix("json:")).write_text("{{}}")
"""


@pytest.mark.parametrize("name", NAMES)
def test_files_are_written_for_named_clusters_alone(name: str) -> None:
    """Without one the files are as before; the names are in them where the host lists them."""
    plain = ci_files(SYSTEMS[name], ".", "main", ORIGINS[name])
    every = ci_files(SYSTEMS[name], ".", "main", ORIGINS[name], CLUSTERS)
    assert {path: every[path] for path in plain} == plain
    (path,) = every.keys() - plain.keys()
    text = every[path].decode()
    assert "trainyard-facts" in path
    assert name == "tekton" or '["lab", "prod-east"]' in text
    assert '"refs/heads/trainyard-facts/$CLUSTER"' in text or "/trainyard-facts/${{" in text
    assert "--read-on" in text


@pytest.mark.parametrize("cluster", ["", "a b", "Lab", "-x", "x/y", "$(id)"])
def test_name_that_no_cluster_can_have_is_refused(cluster: str) -> None:
    with pytest.raises(ValueError, match="no cluster can have the name"):
        ci_files(SYSTEMS["github"], ".", "main", clusters=[cluster])


def test_command_says_what_is_left_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second run writes nothing."""
    _profile_of_lab(tmp_path)
    options = ["--from", ORIGINS["gitlab"], "--facts", "lab"]
    assert run(["ci", "gitlab", str(tmp_path), *options]) == 0
    said = capsys.readouterr()
    assert said.err == "Add to .gitlab-ci.yml: include: [{local: .gitlab/trainyard-facts.yml}]\n"
    assert run(["ci", "gitlab", str(tmp_path), *options]) == 0
    said = capsys.readouterr()
    assert said.out.count("is there already") == 3
    assert said.err == ""


def test_cluster_without_a_profile_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also beside one that is there; nothing is written."""
    _profile_of_lab(tmp_path)
    asked = ["ci", "github", str(tmp_path), "--facts", "lab", "--facts", "nowhere"]
    assert run(asked) == 2
    assert "there is no cluster `nowhere`" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["profiles"]


def _profile_of_lab(folder: Path) -> None:
    clusters = folder / "profiles" / "clusters"
    clusters.mkdir(parents=True)
    (clusters / "lab.yaml").touch()


class Site:
    """A repository, and the two Tasks of Tekton with a stand-in for trainyard."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.remote = folder, folder / "remote"
        programs = folder / "bin"
        programs.mkdir()
        self._calls = folder / "calls"
        program = programs / "trainyard"
        program.write_text(_STAND_IN.format(python=sys.executable, calls=str(self._calls)), "utf-8")
        program.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        self.git("init", "--quiet", "--bare", "--initial-branch=main", str(self.remote))
        work = folder / "work"
        self.git("clone", "--quiet", str(self.remote), str(work))
        own = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        self.git("-C", str(work), *own, "commit", "--quiet", "--allow-empty", "-m", "first")
        self.git("-C", str(work), "push", "--quiet", "origin", "HEAD:refs/heads/main")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    def start(self, task: str) -> str:
        """Run the script of a Task in an empty folder; return what it prints."""
        files = ci_files(SYSTEMS["tekton"], ".", "main", ORIGINS["tekton"], CLUSTERS)
        (path,) = SYSTEMS["tekton"].facts
        tasks = {each["metadata"]["name"]: each for each in yaml.safe_load_all(files[path])}
        (step,) = tasks[task]["spec"]["steps"]
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        script = step["script"].replace("/tekton/home", str(home))
        values = {"URL": str(self.remote), "REVISION": "refs/heads/main", "CLUSTER": "lab"}
        volume = self.folder / f"volume-{len(list(self.folder.iterdir()))}"
        volume.mkdir()
        done = subprocess.run(
            ["sh", "-c", script],
            cwd=volume,
            env={**self.environment, **values, "HOME": str(home), "LOGIN": str(home / "none")},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call of trainyard."""
        return [json.loads(line) for line in self._calls.read_text("utf-8").splitlines()]


def test_facts_are_stored_and_compared(tmp_path: Path) -> None:
    """One commit, whatever was there; the day of the check is that of the commit."""
    site = Site(tmp_path)
    assert f"no branch {BRANCH} can be read" in site.start("trainyard-cluster")
    for _ in range(2):
        site.start("trainyard-facts")
    assert site.git("-C", str(site.remote), "rev-list", "--count", BRANCH).strip() == "1"
    assert site.git("-C", str(site.remote), "show", f"{BRANCH}:facts.json") == "{}"
    assert site.start("trainyard-cluster") == ""
    read, *_, compared = site.calls
    assert read[:4] == ["facts", "lab", "--context", "lab"]
    assert compared[:3] == ["preflight", "lab", "--from"]
    day = datetime.now(UTC).astimezone().date().isoformat()
    assert compared[-2:] == ["--read-on", day]
