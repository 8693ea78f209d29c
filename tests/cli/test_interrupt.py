"""Ctrl-C at any moment: one word, code 130, and a tree that is whole."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.cli.calls import REPOSITORY, edit
from tests.tree.trees import on_disk
from tests.verify.programs import program
from trainyard import __main__
from trainyard.cli import interrupt
from trainyard.generation.generate import generate
from trainyard.tree.write import write

pytestmark = [pytest.mark.thorough, pytest.mark.slow]

TRIES = {"generate": 12, "verify": 4, "--help": 4}
"""In the suite; a hundred of each were run once."""

_START = """
import os, sys
sign = int(sys.argv.pop(1))
def heard(event, args):
    if event == "import" and args[0] == "trainyard.cli":
        os.write(sign, b"!")
sys.addaudithook(heard)
from trainyard.__main__ import main
sys.exit(main())
"""
"""What an installed script does, and a sign to us at the first import in `main`: Python answers
Ctrl-C before that."""


def _started(folder: Path, *args: str, **environment: str) -> subprocess.Popen[str]:
    """Start the command line as an installed script does, up to its first import."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", _START, str(writer), *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=[writer],
        text=True,
    )
    os.close(writer)
    assert select.select([reader], [], [], 60)[0]
    os.close(reader)
    return process


@pytest.fixture(scope="module")
def trees(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, dict[str, bytes], dict[str, bytes]]:
    """A repository whose profiles were edited since its tree was written, and the files before and
    after."""
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(REPOSITORY / "profiles", folder / "profiles")
    before = dict(generate(folder / "profiles", "../profiles/components").files)
    edit(folder / "profiles" / "teams" / "nlp.yaml", "nlp-guests", "nlp-readers")
    return folder, before, dict(generate(folder / "profiles", "../profiles/components").files)


@pytest.mark.parametrize("command", TRIES)
def test_interrupt_at_any_moment(
    command: str, trees: tuple[Path, dict[str, bytes], dict[str, bytes]]
) -> None:
    """The command prints `interrupted` or succeeds; the tree is the old one or the new one."""
    folder, before, after = trees
    random = Random(command)
    write(folder / "overlays", before if command == "generate" else after)
    begun = time.monotonic()
    with _started(folder, command) as process:
        assert process.wait() == 0
    longest, codes = time.monotonic() - begun, []
    for number in range(TRIES[command]):
        write(folder / "overlays", before if command == "generate" else after)
        with _started(folder, command) as process:
            # One in each part of the run: the first comes before any machine has ended it.
            time.sleep((number + random.random()) / TRIES[command] * longest)
            process.send_signal(signal.SIGINT)
            _, message = process.communicate(timeout=60)
        codes.append(process.returncode)
        assert "Traceback" not in message
        assert (process.returncode, message.strip()) in {(130, "interrupted"), (0, "")}
        assert on_disk(folder / "overlays") in (before, after)
        assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    assert 130 in codes


def test_interrupt_of_hanging_builds_ends_them(
    trees: tuple[Path, dict[str, bytes], dict[str, bytes]], tmp_path: Path
) -> None:
    """Nobody waits for programs that hang, and none is left behind."""
    folder, _, after = trees
    write(folder / "overlays", after)
    script = f'[ "$1" = version ] && exec echo v5.8.1\necho $$ >>{tmp_path}/pids\nsleep 60'
    fake = program(tmp_path / "bin", "kustomize", script)
    with _started(folder, "verify", TRAINYARD_KUSTOMIZE=str(fake)) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "pids").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        _, message = process.communicate(timeout=60)
    assert (process.returncode, message.strip()) == (130, "interrupted")
    assert time.monotonic() - begun < 20
    for pid in (tmp_path / "pids").read_text().split():
        state = Path(f"/proc/{pid}/status")
        assert not state.exists() or re.search(r"^State:\tZ", state.read_text(), re.MULTILINE)


class _Slow:
    """An object that is interrupted while it is collected."""

    def __del__(self) -> None:
        raise self.error

    def __init__(self, error: BaseException) -> None:
        self.error = error


@pytest.mark.usefixtures("signals")
def test_forgotten_interrupt_is_raised_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Python only prints an exception that is raised while it collects an object."""
    interrupt.remember()

    def collect() -> None:
        _Slow(KeyboardInterrupt())
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        collect()
    assert capsys.readouterr().err == ""
    _Slow(ValueError("shown as ever"))
    assert "ValueError: shown as ever" in capsys.readouterr().err


@pytest.mark.usefixtures("signals")
def test_ignored_interrupt_stays_ignored() -> None:
    """What a shell starts in the background ignores Ctrl-C, during imports too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupt.at_once():
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


@pytest.mark.usefixtures("signals")
def test_import_ends_the_process_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One word on stderr, the exit code, and no way back into a module that is half made."""
    done: list[object] = []
    monkeypatch.setattr(os, "write", lambda *args: done.append(args))
    monkeypatch.setattr(os, "_exit", done.append)
    with interrupt.at_once():
        signal.raise_signal(signal.SIGINT)
    assert done == [(2, b"\ninterrupted\n"), 130]


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("closed", [False, True])
def test_interrupt_outside_of_commands_is_reported(
    closed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """click does not handle it."""

    def fail() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trainyard.cli.main.main", fail)
    if closed:
        monkeypatch.setattr(sys, "stderr", None)

    assert __main__.main() == 130
    assert capsys.readouterr().err == ("" if closed else "\ninterrupted\n")


def test_entry_point_imports_nothing_of_its_own() -> None:
    """Until `main` begins, Python answers Ctrl-C with a traceback."""
    code = (
        "import sys; before = set(sys.modules); import trainyard.__main__; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, check=True, text=True
    )

    assert done.stdout.split() == ["trainyard", "trainyard.__main__"]
