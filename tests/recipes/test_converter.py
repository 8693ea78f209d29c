"""*Add a converter*, followed in a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.checkout import FRESH, Checkout

pytestmark = pytest.mark.thorough

PACKAGE = "generator/trainyard_jobs"
READER = '''\
"""Read a job of batchy, which has a command, an image and nodes."""

from __future__ import annotations

from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.launcher import OPENMPI
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.model import Kind, Remark

_KNOWN = {"kind", "name", "image", "nodes", "command"}


def read_job(file: str, number: int, body: dict[str, Any]) -> Draft:
    """Return the draft of a job; each field that it does not read has a note."""
    lost = [Pointer(file, (number, field)) for field in body if field not in _KNOWN]
    notes = [Remark(at, Kind.DROPPED, str(at.path[-1]), "no TrainJob has it") for at in lost]
    return Draft(
        title=f"batchy job {body['name']}",
        at=Pointer(file, (number,)),
        name=body["name"],
        launcher=OPENMPI.name,
        nodes=body["nodes"],
        image=body["image"],
        command=OPENMPI.command,
        args=tuple(body["command"].split()),
        notes=tuple(notes),
    )
'''
WORKFLOW = '''\
"""Convert jobs of batchy that files hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trainyard.handed_in import read_source
from trainyard.model.tenant import Tenant
from trainyard_jobs.convert.batchy.job import read_job
from trainyard_jobs.convert.finish import finish
from trainyard_jobs.workflows.convert import Converted, in_order


def convert_batchy(files: Sequence[Path], tenant: Tenant | None) -> Converted:
    """Return the jobs of batchy as TrainJobs.

    Raises:
        TreeError: a file can't be read.
    """
    conversions, sources = [], {}
    for file in files:
        source = read_source(file)
        sources[source.file] = source
        for number, body in enumerate(source.value):
            draft = read_job(source.file, number, body)
            conversions.append(in_order(finish(draft, tenant), source))
    return Converted(tuple(conversions), sources)
'''
COMMAND = '''\
"""``trainyard convert batchy``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard_jobs.cli.convert.printing import printed
from trainyard_jobs.cli.convert.team import chosen_team, team_options
from trainyard_jobs.workflows.convert_batchy import convert_batchy

_SOURCE = click.Path(exists=True, path_type=Path)


@click.command("batchy")
@click.argument("files", nargs=-1, required=True, type=_SOURCE, metavar="FILE...")
@team_options
def command(files: tuple[Path, ...], team: str | None, cluster: str | None, profiles: Path) -> int:
    """Turn the jobs of batchy in each FILE into TrainJobs."""
    return printed(convert_batchy(files, chosen_team(profiles, cluster, team)))
'''
TEST = """\
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.convert.printed import compare, need_admitted, output
from trainyard.model.platform import Platform
from trainyard.model.tenant import Tenant
from trainyard_jobs.workflows.convert_batchy import convert_batchy

HERE = Path(__file__).parent


CASES = pytest.mark.parametrize("case", sorted(HERE.glob("*.yaml")), ids=lambda case: case.stem)
Team = Callable[[str, str], Tenant]


@CASES
def test_case_is_printed_as_expected(
    case: Path,
    tenant: Team,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    update_golden: bool,
) -> None:
    monkeypatch.chdir(HERE)
    converted = convert_batchy([Path(case.name)], tenant("nlp", "prod-east"))

    compare(case.with_suffix(".expected"), output(converted, capsys), update=update_golden)


@CASES
def test_converted_job_is_admitted(
    case: Path, tenant: Team, manifests: Callable[[str], Any], platform: Platform
) -> None:
    owner = tenant("nlp", "prod-east")

    need_admitted(convert_batchy([case], owner), owner, platform, manifests)
"""
CASE = """\
kind: Job
name: train-{number}
image: registry.example.com/ml/batchy:{number}
nodes: {nodes}
command: python train.py --epochs {number}
mail: true
"""
PAGE = """\
# Convert jobs of batchy

For people who have jobs of batchy and want TrainJobs.

## Before you start

This page starts from this repository.

## Convert a job

```shell
printf '%s\\n' 'kind: Job' 'name: a' 'image: a.example/b' 'nodes: 2' 'command: ls' > ../a.yaml
trainyard convert batchy ../a.yaml --team nlp --cluster prod-east
```

## If it fails

The message names the line.
"""
SLURM = "command.add_command(slurm.command)"
LAYER = '"convert_sagemaker | convert_slurm | job"'
LISTED = "- [Convert batch scripts of Slurm](how-to/convert-slurm.md)"


def test_converter_is_added_as_its_recipe_says(tmp_path: Path) -> None:
    """Its jobs are admitted, and a field that it does not know is named."""
    copy = Checkout(tmp_path, "Add a converter")
    copy.write(f"{PACKAGE}/convert/batchy/__init__.py", '"""Jobs of batchy."""\n')
    copy.write(f"{PACKAGE}/convert/batchy/job.py", READER)
    copy.write(f"{PACKAGE}/workflows/convert_batchy.py", WORKFLOW)
    copy.replace(
        "pyproject.toml", LAYER, LAYER.replace("convert_s", "convert_batchy | convert_s", 1)
    )
    copy.write(f"{PACKAGE}/cli/convert/batchy.py", COMMAND)
    group = f"{PACKAGE}/cli/commands/convert.py"
    copy.replace(group, "import mpijob", "import batchy, mpijob")
    copy.replace(group, SLURM, f"{SLURM}\ncommand.add_command(batchy.command)")
    cases = "tests/jobs/convert/batchy"
    copy.write(f"{cases}/__init__.py", "")
    copy.write(f"{cases}/test_cases.py", TEST)
    for number in range(2, 17):
        copy.write(f"{cases}/job-{number}.yaml", CASE.format(number=number, nodes=2 + number % 7))
    copy.write("docs/how-to/convert-batchy.md", PAGE)
    copy.insert("docs/README.md", LISTED, "- [Convert jobs of batchy](how-to/convert-batchy.md)\n")
    copy.run(f"pytest {cases} --update-golden")
    listed = "tests/test_docs.py::test_every_page_is_listed"
    copy.type("make docs test", [*FRESH, listed, cases])

    assert "mail: no TrainJob has it" in copy.run(f"cat {cases}/job-2.expected")
    copy.done(most=10 + 15)
