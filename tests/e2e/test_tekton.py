"""The Task and Pipeline of `trainyard ci tekton`, judged by the code of Tekton's webhook."""

from __future__ import annotations

import subprocess

import pytest

from tests.e2e.engines import TEKTON, engine
from trainyard.scaffold.ci import SYSTEMS, ci_files

pytestmark = pytest.mark.e2e


def judged(text: str) -> tuple[int, str]:
    done = subprocess.run([engine(TEKTON)], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def written() -> str:
    (body,) = ci_files(SYSTEMS["tekton"], "platform/gpu", "main").values()
    return body.decode()


def test_objects_are_accepted() -> None:
    assert judged(written()) == (0, "")
    _, facts = ci_files(SYSTEMS["tekton"], "platform/gpu", "main", clusters=["lab"]).values()
    assert judged(facts.decode()) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("      script: |", "      scripts: |", "unknown field"),
        ("$(params.base)", "$(params.bass)", "non-existent variable"),
        ("workspace: source}", "workspace: sauce}", "expects workspace with name"),
        ("timeout: 15m", "timeout: soon", "invalid duration"),
    ],
)
def test_each_kind_of_fault_is_refused(old: str, new: str, fault: str) -> None:
    """The program does judge: a field, a parameter, a workspace, a value."""
    text = written()
    assert old in text
    code, said = judged(text.replace(old, new))

    assert code == 1
    assert fault in said
