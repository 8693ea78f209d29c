"""Files with thousands of mistakes are checked in seconds; quadratic code would take minutes."""

from __future__ import annotations

import time
from copy import deepcopy

import pytest

from tests.fuzz import readers
from tests.fuzz.targets import Outcome, check_bytes
from trainyard.yaml_io.emitter import emit

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    "content",
    [
        b"runtimes: [" + b"no," * 9000 + b"x]",
        b"runtimes:\n" + b"- no\n" * 9000,
        b"{" + b", ".join(b"a%d: x" % number for number in range(6000)) + b"}",
        b"runtimes: [" + b"A," * 9000 + b"x]",
        b"a: x\n" * 6000,
    ],
    ids=[
        "ambiguous in one line",
        "ambiguous in lines",
        "unknown keys",
        "bad items",
        "duplicate keys",
    ],
)
def test_thousands_of_findings_are_shown_in_seconds(content: bytes) -> None:
    """The cost of a finding's place, line and masked text does not grow with the file."""
    begin = time.process_time()

    assert check_bytes("team", content) is Outcome.REFUSED
    assert time.process_time() - begin < 20


def test_thousands_of_mistakes_of_a_job_are_told_in_seconds() -> None:
    """Each line of a verdict is found without looking through all of them again."""
    job = deepcopy(next(iter(readers.jobs())))
    trainer = job["spec"]["trainer"]
    trainer["env"] = [{"name": f"A{number}", "": "a"} for number in range(3000)]
    begin = time.process_time()

    assert readers.fit(emit(job), None) is not Outcome.ACCEPTED
    assert time.process_time() - begin < 20
