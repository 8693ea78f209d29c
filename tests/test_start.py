"""What is run by `python -m`: the command, and the tool that derives schemas."""

from __future__ import annotations

import runpy
import sys

import pytest

from trainyard import __version__


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(
    ("argument", "code", "told"), [("--version", 0, __version__), ("--nonsense", 2, "--nonsense")]
)
def test_module_is_the_command(
    argument: str,
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It obeys the same arguments and ends with the same exit code."""
    monkeypatch.setattr(sys, "argv", ["trainyard", argument])
    monkeypatch.delitem(sys.modules, "trainyard.__main__", raising=False)

    with pytest.raises(SystemExit) as end:
        runpy.run_module("trainyard", run_name="__main__")

    assert end.value.code == code
    assert told in "".join(capsys.readouterr())


def test_schemas_are_derived_by_a_module_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The developers' tool is run as its documentation says."""
    monkeypatch.setattr(sys, "argv", ["derive", "--help"])
    monkeypatch.delitem(sys.modules, "tools.derive", raising=False)

    with pytest.raises(SystemExit) as end:
        runpy.run_module("tools.derive", run_name="__main__")

    assert end.value.code == 0
    assert "python -m tools.derive" in capsys.readouterr().out
