"""What `fit` says of a job that it admits, with the evaluator and without."""

from __future__ import annotations

from tests.cli.calls import Ended
from trainyard.cli.exits import Exit


def need_admitted(ended: Ended, *names: str) -> None:
    """Require that `fit` admits the jobs of these names, as far as it can judge here."""
    lines = [line for line in ended.out.splitlines() if ": admitted" in line]

    assert ended.code in {Exit.FINE, Exit.IO}, ended
    assert [line.partition(": ")[0] for line in lines] == [*names], ended.out
