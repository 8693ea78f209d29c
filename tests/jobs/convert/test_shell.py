"""Which scripts of a shell are one call."""

from __future__ import annotations

import pytest

from trainyard_jobs.convert.shell import one_call, script_of


@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("mpirun -np 4 ./a", ("", ["mpirun", "-np", "4", "./a"])),
        ("exec mpirun './a b' \\\n  -c", ("", ["mpirun", "./a b", "-c"])),
        ("cd /work && mpirun ./a", ("/work", ["mpirun", "./a"])),
        ("cd src\nmpirun ./a", ("src", ["mpirun", "./a"])),
        ("mpirun ./a $X", ("", [])),
        ("mpirun ./a | tee x", ("", [])),
        ("mpirun ./a; ./b", ("", [])),
        ("mpirun './a", ("", [])),
        ("A=1 mpirun ./a", ("", ["A=1", "mpirun", "./a"])),
    ],
)
def test_one_call_is_taken_apart_and_every_other_is_not(
    script: str, result: tuple[str, list[str]]
) -> None:
    assert one_call(script) == result


@pytest.mark.parametrize(
    ("words", "index"),
    [
        (["sh", "-c", "a"], 2),
        (["/bin/bash", "-x", "-euc", "a"], 3),
        (["bash", "-c", "a", "$0"], 2),
        (["bash", "script.sh"], 0),
        (["bash", "-c"], 0),
        (["python", "-c", "a"], 0),
        ([], 0),
    ],
)
def test_script_is_found_behind_its_shell(words: list[str], index: int) -> None:
    assert script_of(words) == index
