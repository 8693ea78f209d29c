from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from tests.cli.calls import Ended, edit
from trainyard.diagnostics import Pointer, ToolError
from trainyard_rehearsal import command, rehearsal
from trainyard_rehearsal.control_plane.lab import alone, cleared
from trainyard_rehearsal.outcome import Failure, Outcome

pytestmark = pytest.mark.thorough

Call = Callable[..., Ended]
_GOOD = Outcome("objects accepted", 2, 2, remark="3 volumes stand in")
_BAD = Outcome(
    "sample jobs run", 1, 2, (Failure("job", "not admitted", Pointer("profiles/teams/nlp.yaml")),)
)


class Lab:
    """A control plane on which nothing runs."""

    def __init__(self, plan: Any) -> None:
        self.plan, self.processes, self.kubeconfig = plan, self, Path("admin.kubeconfig")
        self.logs = Path("logs")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing runs."""

    def check(self) -> None:
        """Nothing ends."""


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache; and the tests' own SIGTERM stays what it is."""
    monkeypatch.setattr("signal.signal", lambda _number, _handler: None)
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Outcome]:
    """What a control plane shows that needs no program; a test adds to it."""
    outcomes = [_GOOD]
    monkeypatch.setattr(rehearsal, "find", lambda _components, _cache: None)
    monkeypatch.setattr(rehearsal, "find_redis", lambda _cache: None)
    monkeypatch.setattr(rehearsal, "find_sdk", lambda _version, _cache: None)
    monkeypatch.setattr(rehearsal, "opened", lambda plan, _built, _folder: Lab(plan))
    monkeypatch.setattr(rehearsal, "_checks", lambda *_: iter(outcomes))
    monkeypatch.setattr(rehearsal, "deliver", lambda *_: iter(()))
    return outcomes


@pytest.mark.usefixtures("tree", "seen")
def test_all_that_held_is_counted(trainyard: Call) -> None:
    """Each promise has a line, by cluster; progress goes to stderr."""
    ended = trainyard("rehearse")
    line = "  objects accepted                 2/2  3 volumes stand in\n"
    assert (ended.code, ended.out) == (0, f"lab:\n{line}prod-east:\n{line}")
    started = "lab: starting 10 programs of kubernetes-1.36"
    assert {started, f"{started}, and Argo CD 3.5.7", "lab: objects accepted 2/2"} <= set(
        ended.err.splitlines()
    )


@pytest.mark.usefixtures("tree")
def test_what_did_not_hold_is_reported(trainyard: Call, seen: list[Outcome]) -> None:
    """The object, the controller's words and the place in the profile, and the exit code of
    findings."""
    seen.append(_BAD)
    ended = trainyard("rehearse", "--cluster", "lab")
    assert ended.code == 1
    assert (
        "  sample jobs run                  1/2\n    job: not admitted\n      "
        "profiles/teams/nlp.yaml" in ended.out
    )
    assert "prod-east" not in ended.out


def test_json_has_the_same(tree: Path, trainyard: Call, seen: list[Outcome]) -> None:
    """A machine reads the counts that a person does."""
    seen.append(_BAD)
    ended = trainyard("rehearse", "--format", "json:report.json")
    result = json.loads((tree / "report.json").read_text())["result"]["outcomes"]
    assert ended.code == 1
    assert result["lab"] == [
        {
            "promise": "objects accepted",
            "held": 2,
            "tried": 2,
            "failures": [],
            "remark": "3 volumes stand in",
            "fine": True,
        },
        {
            "promise": "sample jobs run",
            "held": 1,
            "tried": 2,
            "failures": [
                {
                    "what": "job",
                    "words": "not admitted",
                    "logged": "",
                    "file": "profiles/teams/nlp.yaml",
                }
            ],
            "remark": "",
            "fine": False,
        },
    ]


@pytest.mark.usefixtures("tree")
def test_missing_program_names_the_command(trainyard: Call) -> None:
    """Nothing built is not a success: code 4, and what builds it."""
    ended = trainyard("rehearse")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith(
        "error: argocd is not built yet; run `trainyard rehearse --build` once"
    )


@pytest.mark.usefixtures("tree")
def test_cache_that_is_a_file_is_reported(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The message names the variable."""
    (file := tmp_path / "file").write_text("mine")
    monkeypatch.setenv("TRAINYARD_CACHE", str(file))
    ended = trainyard("rehearse", "--build")
    assert (ended.code, ended.err) == (
        5,
        f"error: {file} is not a folder; have TRAINYARD_CACHE name one\n",
    )
    assert file.read_text() == "mine"


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("options", [(), ("--build",)])
def test_no_engine_ends_at_once(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch, cache: Path, options: tuple[str, ...]
) -> None:
    """Where kind can't run, nothing is built or started: code 4, and what does without."""
    monkeypatch.setenv("PATH", str(cache))
    ended = trainyard("rehearse", "--on", "kind", *options)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith(
        "error: `--on kind` needs a Docker engine; without `--on kind` none is needed."
    )
    assert not cache.exists()


@pytest.mark.usefixtures("tree", "seen")
def test_kind_runs_what_it_needs(trainyard: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an engine the same is tried, beside fewer programs."""
    monkeypatch.setattr(command, "need_engine", lambda: None)
    ended = trainyard("rehearse", "--on", "kind", "--cluster", "lab")
    assert ended.code == 0
    assert ended.err.startswith("lab: starting 7 programs of kubernetes-1.36\n")


@pytest.mark.usefixtures("tree", "seen")
def test_second_rehearsal_is_reported(trainyard: Call, cache: Path) -> None:
    """Two rehearsals never meet."""
    with alone(cache):
        ended = trainyard("rehearse")
    assert ended.code == 4
    assert (
        ended.err
        == f"error: another rehearsal is running (it holds {cache / 'lock'}); wait for its end\n"
    )


@pytest.mark.usefixtures("seen")
def test_stale_tree_is_not_rehearsed(tree: Path, trainyard: Call) -> None:
    """The finding is printed before anything starts."""
    edit(
        tree / "overlays" / "lab" / "teams" / "nlp" / "localqueue-gpu.yaml", "nlp-gpu", "vision-gpu"
    )
    ended = trainyard("rehearse")
    assert ended.code == 1
    assert "starting" not in ended.err


@pytest.mark.usefixtures("tree", "seen")
@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (OSError(28, "No space left on device"), "cache: No space left on device"),
        (OSError(28, "No space left on device", "etcd.log"), "etcd.log: No space left on device"),
    ],
)
def test_full_disk_is_a_sentence(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch, problem: OSError, words: str
) -> None:
    """A file that can't be written is not a bug of ours: which, why, and code 5."""

    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(rehearsal, "opened", fail)
    ended = trainyard("rehearse")
    assert ended.code == 5
    assert ended.err.endswith(f"{words}\n")


@pytest.mark.usefixtures("tree", "seen")
def test_kept_until_interrupted(trainyard: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kubeconfig is printed; after Ctrl-C the results are printed."""

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("threading.Event.wait", interrupt)
    ended = trainyard("rehearse", "--keep", "--cluster", "lab")
    assert ended.code == 0
    assert (
        f"export KUBECONFIG=admin.kubeconfig\nrunning until Ctrl-C or `kill -INT {os.getpid()}`; "
        "Argo CD's part follows then\nending\n" in ended.err
    )
    assert ended.out.startswith("lab:\n")


@pytest.mark.usefixtures("tree", "seen")
def test_kept_in_the_background_until_interrupted(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell starts it with SIGINT ignored; the signal ends the wait all the same."""
    handlers: dict[int, Callable[[int, None], None]] = {}
    monkeypatch.setattr("signal.signal", handlers.__setitem__)
    monkeypatch.setattr(
        "threading.Event.wait", lambda _: handlers[signal.SIGINT](signal.SIGINT, None)
    )
    ended = trainyard("rehearse", "--keep", "--cluster", "lab")
    assert ended.code == 0
    _, _, ending = ended.err.partition("\nending\n")
    assert re.fullmatch(r"lab: starting \d+ programs of kubernetes-1.36, and Argo CD \S+\n", ending)


def test_only_logs_of_a_control_plane_are_left(tmp_path: Path) -> None:
    """Also when something failed, since its logs say why."""
    run = tmp_path / "run"
    (run / "old").mkdir(parents=True)

    def fail() -> None:
        with cleared(run):
            assert not run.exists()
            for name in ("logs", "etcd"):
                (run / name).mkdir(parents=True)
                (run / name / "a").write_text("a")
            (run / "tokens.csv").write_text("a")
            raise ToolError("etcd ended")

    with pytest.raises(ToolError):
        fail()
    assert sorted(path.relative_to(run).as_posix() for path in run.rglob("*")) == ["logs", "logs/a"]


@pytest.mark.usefixtures("tree", "seen")
def test_termination_ends_a_kept_rehearsal(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM ends all, where Ctrl-C would go on with Argo CD's part."""
    handlers: dict[int, Callable[[int, None], None]] = {}
    monkeypatch.setattr("signal.signal", handlers.__setitem__)
    monkeypatch.setattr(
        "threading.Event.wait", lambda _: handlers[signal.SIGTERM](signal.SIGTERM, None)
    )
    ended = trainyard("rehearse", "--keep", "--cluster", "lab")
    assert ended.code == 130
    assert "ending" not in ended.err


@pytest.mark.usefixtures("tree", "seen")
def test_unknown_team_is_usage(trainyard: Call) -> None:
    ended = trainyard("rehearse", "--team", "nobody")
    assert ended.code == 2
    assert "nobody" in ended.err


@pytest.mark.usefixtures("tree")
def test_programs_of_each_release_are_built_once(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--build` builds and tries nothing; nor is the SDK of a version fetched twice."""
    built = []
    fetched = []
    monkeypatch.setattr(
        rehearsal, "build", lambda components, _cache, _tell: built.append(components.folder.name)
    )
    monkeypatch.setattr(rehearsal, "fetch_redis", lambda _cache, _tell: None)
    monkeypatch.setattr(
        rehearsal, "fetch_sdk", lambda version, _cache, _tell: fetched.append(version)
    )
    assert trainyard("rehearse", "--build").code == 0
    assert built == ["kubernetes-1.36", "openshift-ai-3.5"]
    assert len(fetched) == len(set(fetched)) > 0


@pytest.mark.usefixtures("tree")
def test_nothing_is_built_for_profiles_with_errors(trainyard: Call) -> None:
    """Which release they mean is not known; an exit code of 0 would say that all is built."""
    edit(_LAB, "release: kubernetes-1.36", "release: kubernetes-1.3")
    ended = trainyard("rehearse", "--build")
    assert ended.code == 1, ended
    assert "there is no release `kubernetes-1.3`" in ended.out


_OWN = Path("profiles/releases/site/release.yaml")
_LAB = Path("profiles/clusters/lab.yaml")


@pytest.fixture
def own(tree: Path, trainyard: Call) -> str:
    """The committed tree with cluster lab on a release of the repository; its file before."""
    made = ("release", "new", "site", "--from", "kubernetes-1.36", "--set", "jobset=0.12.1")
    assert trainyard(*made).code == 0
    edit(_LAB, "release: kubernetes-1.36", "release: site")
    assert trainyard("generate").code == 0
    return (tree / _OWN).read_text("utf-8")


@pytest.mark.usefixtures("seen")
def test_release_of_the_repository_says_that_it_was_rehearsed(own: str, trainyard: Call) -> None:
    """Once every promise held, with the day and a digest that is right; the warning goes."""
    assert "not-rehearsed" in trainyard("validate").out
    ended = trainyard("rehearse")
    assert ended.code == 0, ended
    assert "wrote `tested: rehearsed` into release site, and its new digest. Next: `train" in (
        ended.err
    )
    after = _OWN.read_text("utf-8")
    assert re.sub(r"(?m)^date: .*$", "", after) == re.sub(
        r"(?m)^date: .*$", "", own.replace("tested: schemas", "tested: rehearsed")
    )
    assert re.search(r'(?m)^date: "\d{4}-\d\d-\d\d"$', after)
    found = trainyard("validate")
    assert found.code == 0, found
    assert "not-rehearsed" not in found.out
    assert trainyard("rehearse").code == 1
    assert trainyard("generate").code == 0
    assert "wrote" not in trainyard("rehearse").err
    assert _OWN.read_text("utf-8") == after


@pytest.mark.parametrize(
    "arguments", [("--team", "nlp"), ("--cluster", "prod-east")], ids=["team", "other-cluster"]
)
@pytest.mark.usefixtures("seen")
def test_part_of_a_rehearsal_is_no_evidence(
    own: str, trainyard: Call, arguments: tuple[str, ...]
) -> None:
    ended = trainyard("rehearse", *arguments)
    assert (ended.code, _OWN.read_text("utf-8")) == (0, own)
    assert "wrote" not in ended.err


def test_release_that_did_not_hold_stays_as_it_is(
    own: str, trainyard: Call, seen: list[Outcome]
) -> None:
    seen.append(_BAD)
    assert trainyard("rehearse").code == 1
    assert _OWN.read_text("utf-8") == own


def test_release_that_changed_meanwhile_is_not_written(
    own: str, trainyard: Call, monkeypatch: pytest.MonkeyPatch, seen: list[Outcome]
) -> None:
    """What ran is not what its folder says now."""

    def checks(*_: object) -> Iterator[Outcome]:
        _OWN.write_text(f"{own}# more\n", "utf-8")
        yield seen[0]

    monkeypatch.setattr(rehearsal, "_checks", checks)
    ended = trainyard("rehearse")
    assert ended.code == 5, ended
    assert "release site changed while it was rehearsed; rehearse it again" in ended.err
    assert _OWN.read_text("utf-8") == f"{own}# more\n"
