"""Every case: what is printed, that the TrainJobs start, and that no field is lost in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.convert.mpijob.test_any_input import ODD, paths, replaced
from tests.jobs.convert.mpijob.test_cases import mappings
from tests.jobs.convert.mpijob.test_cases import paths as all_paths
from tests.jobs.convert.printed import compare, need_admitted, output
from trainyard.cli.console import printable
from trainyard.diagnostics import Pointer
from trainyard.handed_in import objects, read_source
from trainyard.model.platform import Platform
from trainyard.model.tenant import Tenant
from trainyard_jobs.convert.pytorchjob import converted_pytorchjob, draft_of_pytorchjob
from trainyard_jobs.convert.text import document, lines
from trainyard_jobs.workflows.convert import convert_pytorchjobs

Team = Callable[[str, str], Tenant]
HERE = Path(__file__).parent / "cases"
CASES = sorted(path.stem for path in HERE.glob("*.yaml"))


def bodies() -> Iterator[Any]:
    for case in CASES:
        source = read_source(HERE / f"{case}.yaml")
        for _, body in objects(source.file, source.value):
            yield pytest.param(body, id=f"{case}-{body['metadata'].get('name')}")


@pytest.mark.parametrize("case", CASES)
def test_case_is_printed_as_expected(
    case: str,
    tenant: Team,
    capsys: pytest.CaptureFixture[str],
    update_golden: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(HERE)
    converted = convert_pytorchjobs([Path(f"{case}.yaml")], tenant("nlp", "prod-east"))

    compare(HERE / f"{case}.expected", output(converted, capsys), update=update_golden)


@pytest.mark.parametrize("case", CASES)
def test_converted_job_is_admitted(
    case: str, tenant: Team, manifests: Callable[[str], Any], platform: Platform
) -> None:
    """It fits without an edit; whether its image holds the program, nobody can judge."""
    owner = tenant("nlp", "prod-east")

    need_admitted(convert_pytorchjobs([HERE / f"{case}.yaml"], owner), owner, platform, manifests)


@pytest.mark.parametrize("body", [*bodies()])
def test_no_unknown_field_is_lost(body: dict[str, Any]) -> None:
    """Each mapping of a job is given one more field, and a note is about it or about its parent."""
    before = {(each.at, each.what) for each in draft_of_pytorchjob(body, Pointer("x")).notes}
    if converted_pytorchjob(body, Pointer("x"), None).job is None:
        return
    for number in range(sum(1 for _ in mappings(body))):
        changed = deepcopy(body)
        list(mappings(changed))[number]["unheardOf"] = "value"
        draft = draft_of_pytorchjob(changed, Pointer("x"))
        notes = {(each.at, each.what) for each in draft.notes}
        place = next(path for path in all_paths(changed) if path[-1:] == ("unheardOf",))

        assert notes - before or any(place[: len(at.path)] == at.path for at, _ in notes), place


@pytest.mark.parametrize("body", [*bodies()])
def test_odd_values_are_converted_or_refused(body: dict[str, Any]) -> None:
    for number, path in enumerate(paths(body)):
        for value in (ODD[number % len(ODD)], ODD[(number * 5 + 3) % len(ODD)]):
            made = converted_pytorchjob(replaced(body, path, value), Pointer("x"), None)

            assert [*lines(made, str, printable)] or made.job
            assert made.job is None or document(made, str, printable)
