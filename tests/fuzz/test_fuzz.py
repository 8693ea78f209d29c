"""Some hundred hostile inputs in each run of the tests; `make fuzz` tries new ones."""

from __future__ import annotations

import os

import pytest
from hypothesis import strategies as st

from tests.fuzz import __main__ as command
from tests.fuzz.corpus import REPOSITORIES, SEEDS
from tests.fuzz.properties import PROPERTIES, Property, run
from tests.fuzz.targets import Outcome, check_bytes, check_platform

pytestmark = pytest.mark.thorough

EXAMPLES = 75


@pytest.mark.parametrize("target", PROPERTIES, ids=lambda target: target.__name__)
def test_no_input_raises_anything(target: Property) -> None:
    """Every stage reports findings for any content of a file."""
    assert run(target, EXAMPLES, repeatable="CI" in os.environ).total() >= EXAMPLES


def test_every_committed_repository_has_seeds() -> None:
    """So a folder that moved is noticed."""
    assert {seed.root for seed in SEEDS} == set(REPOSITORIES)
    assert len(REPOSITORIES) >= 6


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        (b"\xff", Outcome.UNREADABLE),
        (b"format: 1\n", Outcome.REFUSED),
        (
            b"format: 1\ndomain: ml.example.com\nrepository: https://git.example.com/x\n",
            Outcome.ACCEPTED,
        ),
    ],
)
def test_outcome_of_a_file_is_reported(content: bytes, outcome: Outcome) -> None:
    assert check_bytes("trainyard", content) is outcome


@pytest.mark.parametrize(
    ("content", "outcome"),
    [(b"\xff", Outcome.UNREADABLE), (b"a: 1\n", Outcome.REFUSED), (None, Outcome.ACCEPTED)],
)
def test_outcome_of_a_platform_is_reported(content: bytes | None, outcome: Outcome) -> None:
    """The platform is rendered, and the committed file is restored afterwards."""
    seed = next(seed for seed in SEEDS if seed.path == "teams/nlp.yaml")

    assert check_platform(seed, seed.content if content is None else content) is outcome
    assert check_platform(seed, seed.content) is Outcome.ACCEPTED


def test_fuzzing_stops_after_its_time_and_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command ends with 0, and prints the number of inputs and their outcomes."""

    def accepting(_: st.DataObject) -> Outcome:
        return Outcome.ACCEPTED

    monkeypatch.setattr(command, "PROPERTIES", (accepting,))

    assert command.main(["0.01"]) == 0
    assert " inputs in 0 s\n" in (out := capsys.readouterr().out)
    assert out.splitlines()[1].startswith("accepting")
    assert out.endswith("accepted\n")


def test_input_that_raises_ends_the_fuzzing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception has the smallest such input as a note."""

    def raising(data: st.DataObject) -> Outcome:
        assert data.draw(st.integers(0, 1000)) < 7
        return Outcome.ACCEPTED

    monkeypatch.setattr(command, "PROPERTIES", (raising,))

    with pytest.raises(AssertionError) as caught:
        command.main(["60"])
    assert "Draw 1: 7" in "\n".join(caught.value.__notes__)
