"""A script of any text is converted or refused, and never ends the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.cli.console import printable
from trainyard_jobs.convert.finish import finish
from trainyard_jobs.convert.slurm.convert import read_batch_script
from trainyard_jobs.convert.slurm.parts import Parts
from trainyard_jobs.convert.text import document

SCRIPTS = [path.read_text("utf-8") for path in sorted(Path(__file__).parent.rglob("*.sbatch"))]
PIECES = ["'", '"', "\\", "$(", "`", "${", "&&", "||", ";", "|", "&", ">", "<", "\n", "#", " ", "="]
ODD = st.one_of(st.sampled_from(PIECES), st.text(max_size=3))


def convert(script: str) -> None:
    for draft in read_batch_script("x.sbatch", script):
        made = finish(draft, None)
        if made.job is not None:
            document(made, str, printable)


@given(st.sampled_from(SCRIPTS), st.floats(0, 1), st.integers(0, 4), ODD)
def test_edited_script(script: str, place: float, removed: int, added: str) -> None:
    at = int(place * len(script))

    convert(script[:at] + added + script[at + removed :])


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_header_and_command(header: str, command: str) -> None:
    convert(f"#!/bin/bash\n#SBATCH {header}\nsrun {command}\n")


@pytest.mark.parametrize("script", ["", "\n", "#!/bin/sh", "#SBATCH -N2", "srun", "srun ''", "''"])
def test_scripts_without_a_program(script: str) -> None:
    (draft,) = read_batch_script("x.sbatch", script)

    assert not finish(draft, None).is_whole


def test_script_of_any_length_is_refused_before_it_is_read() -> None:
    (draft,) = read_batch_script("x.sbatch", "#!/bin/bash\nsrun " + "a " * 40_000)

    refused = [note.meaning for note in draft.notes if note.kind == "refused"]
    assert refused == ["it has more than 64 KiB"]


def test_values_in_values_stay_short() -> None:
    lines = [f'V{n + 1}="' + f"$V{n} " * 4 + '"' for n in range(20)]
    parts = Parts()
    for name, _, raw in (line.partition("=") for line in ['V0="a b"', *lines]):
        parts.note(name, raw, frozenset())

    assert max(map(len, parts.values.values())) <= 16 * 1024


def test_value_of_many_values_is_left_to_the_shell() -> None:
    """Eight times the value before in each line: the last would have 600 billion characters."""
    lines = [f"V{n + 1}={f'$V{n}' * 8}" for n in range(12)]
    script = "\n".join(["#!/bin/bash", "#SBATCH -N 2", "V0=aaaaaaaaaa", *lines, "srun ./x $V12"])

    (draft,) = read_batch_script("x.sbatch", script)

    assert [line in draft.args[0] for line in lines] == [True] * 12
    assert draft.args[0].endswith("mpirun ./x $V12\n")
    assert len(draft.args[0]) < 1024
