"""Every case: what is printed with its team and without, that it starts, and what is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.convert.mpijob.cases import CASES, HERE, submitter
from tests.jobs.convert.printed import need_admitted
from trainyard.diagnostics import Pointer
from trainyard.handed_in import objects, read_source
from trainyard.model.platform import Platform
from trainyard.model.tenant import Tenant
from trainyard_jobs.cli.convert.printing import printed
from trainyard_jobs.convert.mpijob.job import converted, is_mpijob
from trainyard_jobs.workflows.convert import convert_mpijobs

Team = Callable[[str, str], Tenant]
ALONE = ("horovod-resnet", "intel-mpi", "run-policies", "volumes")
"""Cases that are printed without a team too."""


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)


def compare(name: str, text: str, *, update: bool) -> None:
    """Compare with what is committed; read what `--update-golden` writes."""
    file = HERE / f"{name}.expected"
    if update:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def output(case: str, tenant: Tenant | None, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the command prints: exit code, standard error and output."""
    code = printed(convert_mpijobs([Path(f"{case}.yaml")], tenant))
    shown = capsys.readouterr()
    return f"exit code {code}\n\n{shown.err}\n{shown.out}"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("case", CASES)
def test_case_is_printed_as_expected(
    case: str, tenant: Team, capsys: pytest.CaptureFixture[str], update_golden: bool
) -> None:
    text = output(case, tenant(*submitter(case)), capsys)

    compare(case, text, update=update_golden)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("case", ALONE)
def test_case_without_a_team_is_printed_as_expected(
    case: str, capsys: pytest.CaptureFixture[str], update_golden: bool
) -> None:
    compare(f"{case}.alone", output(case, None, capsys), update=update_golden)


@pytest.mark.parametrize("case", CASES)
def test_converted_job_is_admitted(
    case: str, tenant: Team, manifests: Callable[[str], Any], platform: Platform
) -> None:
    """It fits without an edit; whether its image holds the program, nobody can judge."""
    owner = tenant(*submitter(case))

    need_admitted(convert_mpijobs([HERE / f"{case}.yaml"], owner), owner, platform, manifests)


def mpijobs() -> Iterator[Any]:
    for case in CASES:
        source = read_source(HERE / f"{case}.yaml")
        for path, body in objects(source.file, source.value):
            if is_mpijob(body):
                yield pytest.param(body, id=f"{case}-{'-'.join(map(str, path))}")


SERVER = {"status", "managedFields", "ownerReferences"}
WHOLE = {
    "annotations",
    "env",
    "labels",
    "limits",
    "nodeSelector",
    "requests",
    "resources",
    "volumeMounts",
    "volumes",
}
"""Mappings in which an unknown key is a label, a resource or what the API server prunes."""


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    """Yield each mapping of a job whose unknown fields must be named."""
    if isinstance(value, dict):
        yield value
        for key, each in value.items():
            if key not in SERVER | WHOLE:
                yield from mappings(each)
    elif isinstance(value, list):
        for each in value:
            yield from mappings(each)


@pytest.mark.parametrize("body", [*mpijobs()])
def test_no_unknown_field_is_lost(body: dict[str, Any]) -> None:
    """Each mapping of a job is given one more field, and a note is about it or about its parent."""
    if converted(body, Pointer("x"), None).job is None:
        return
    count = sum(1 for _ in mappings(body))
    for number in range(count):
        changed = deepcopy(body)
        list(mappings(changed))[number]["unheardOf"] = "value"
        before = {(each.at, each.what) for each in converted(body, Pointer("x"), None).notes}
        notes = {(each.at, each.what) for each in converted(changed, Pointer("x"), None).notes}
        place = next(path for path in paths(changed) if path[-1:] == ("unheardOf",))

        assert notes - before or any(place[: len(at.path)] == at.path for at, _ in notes), place


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value."""
    yield path
    members = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else members:
        yield from paths(each, (*path, key))


@pytest.mark.parametrize("key", ["name", "generateName", "namespace"])
@pytest.mark.parametrize("variable", ["${USER}", "{{ user }}"])
def test_variable_of_a_template_in_a_name_is_a_choice(key: str, variable: str) -> None:
    (body, *_) = next(param.values for param in mpijobs())
    body = deepcopy(body) | {"metadata": {"name": "bert", key: f"{variable}-bert"}}

    notes = converted(body, Pointer("x"), None).notes

    assert any(f"`{variable}`" in each.what and each.kind == "choose" for each in notes)
