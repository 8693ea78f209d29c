from __future__ import annotations

import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from tests.cli.calls import REPOSITORY, Ended, process
from trainyard import __version__
from trainyard.cli import main
from trainyard.cli.app import app
from trainyard.cli.commands import validate
from trainyard.diagnostics import ToolError, TreeError

Call = Callable[..., Ended]
SECRET = "2026ghs_s3cret"


def test_version_is_one_line(trainyard: Call) -> None:
    assert trainyard("--version") == Ended(0, f"trainyard {__version__}\n", "")


def test_no_command_is_a_usage_error_that_helps(trainyard: Call) -> None:
    """The commands are shown, and a script sees the exit code of a usage error."""
    ended = trainyard()

    assert (ended.code, ended.out) == (2, "")
    assert "Commands:" in ended.err


def test_unknown_command_names_the_nearest(trainyard: Call) -> None:
    """A misspelt command is answered with the right one."""
    message = (
        "error: there is no command `vrify`; did you mean `verify`?\nTry `trainyard --help`.\n"
    )
    assert trainyard("vrify") == Ended(2, "", message)


def test_command_like_no_other_is_a_usage_error(trainyard: Call) -> None:
    """Nothing is suggested where nothing is near."""
    assert trainyard("xyz") == Ended(
        2, "", "error: No such command 'xyz'.\nTry `trainyard --help`.\n"
    )


@pytest.mark.parametrize(
    ("problem", "code", "message"),
    [
        (ToolError("kustomize is broken"), 4, "error: kustomize is broken\n"),
        (TreeError("the disk is\x1b[31m full"), 5, "error: the disk is\\x1b[31m full\n"),
        (
            PermissionError(13, "Permission denied", "profiles"),
            5,
            "error: profiles: Permission denied\n",
        ),
        (
            OSError(28, "No space left on device"),
            5,
            "error: standard output: No space left on device\n",
        ),
        (KeyboardInterrupt(), 130, "\ninterrupted\n"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_what_ends_a_command_is_a_sentence_and_a_code(
    problem: BaseException,
    code: int,
    message: str,
    trainyard: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each way to end has its exit code, and nothing is printed on stdout."""

    def fail(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr(validate, "check", fail)
    assert trainyard("validate") == Ended(code, "", message)


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (("validate", "--color", "never"), "validate --color ..."),
        (("validate", f"--today={SECRET[:4]}-01-01"), "validate --today"),
    ],
)
def test_bug_is_reported_in_a_report_and_not_on_the_screen(
    repository: Path,
    trainyard: Call,
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[str, ...],
    shown: str,
) -> None:
    """The user sees one sentence and a file's name; the file holds version, command, exception and
    frames."""
    monkeypatch.setattr(validate, "check", lambda *_, **__: 1 // 0)
    monkeypatch.setattr(tempfile, "tempdir", str(repository))
    ended = trainyard(*args)
    (report,) = repository.glob("trainyard-bug-*.txt")

    assert (ended.code, ended.out) == (70, "")
    assert "Traceback" not in ended.err
    assert str(report) in ended.err
    text = report.read_text(encoding="utf-8")
    assert text.startswith(f"trainyard {__version__}, Python ")
    assert f"\ncommand: trainyard {shown}\nZeroDivisionError\n\n" in text
    assert "validate.py" in text


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (("comment", "github", SECRET, f"--token={SECRET}"), "comment github ... --token"),
        (("comment", "gitlab", "--token", SECRET), "comment gitlab --token ..."),
        (("job", "--team", SECRET, "--", "validate", f"--token={SECRET}"), "job --team ... ..."),
        ((SECRET, f"--{SECRET}"), "... ..."),
    ],
)
def test_report_of_a_bug_holds_no_value(
    repository: Path,
    trainyard: Call,
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[str, ...],
    shown: str,
) -> None:
    """Neither of the command line, nor of the exception and of what it came from: a user sends it
    to strangers, and each can hold a token or a line of a file."""

    def fail(*_: object, **__: object) -> None:
        try:
            dict[str, str]()[SECRET]
        except KeyError as error:
            raise ValueError(f"Invalid header value {SECRET}") from error

    monkeypatch.setattr(app, "main", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(repository))
    ended = trainyard(*args)
    text = next(repository.glob("trainyard-bug-*.txt")).read_text(encoding="utf-8")

    assert ended.code == 70
    assert SECRET not in text + ended.err
    assert f"\ncommand: trainyard {shown}" in text


def test_bug_without_place_for_a_report_keeps_its_code(
    repository: Path, trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk does not turn a bug into a traceback."""
    monkeypatch.setattr(validate, "check", lambda *_, **__: 1 // 0)
    monkeypatch.setattr(tempfile, "tempdir", str(repository / "nowhere"))
    ended = trainyard("validate")

    assert ended.code == 70
    assert ended.err.endswith("no report could be written\n")


@pytest.mark.parametrize("args", [("--help",), ("rules",)])
def test_full_disk_behind_stdout_is_reported(args: tuple[str, ...], tmp_path: Path) -> None:
    """Lost output never looks like success."""
    with Path("/dev/full").open("wb") as full:
        ended = process(*args, cwd=tmp_path, stdout=full)

    assert ended == Ended(5, "", "error: standard output: No space left on device\n")


@pytest.mark.parametrize(("args", "code"), [(("--help",), 0), (("rules",), 5)])
def test_reader_that_went_away_matters_only_for_a_result(
    args: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    """Help that is not read to its end is not an error; a result is."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        ended = process(*args, cwd=tmp_path, stdout=pipe)

    assert (ended.code, ended.err) == (code, "")


def test_closed_stdout_is_reported(tmp_path: Path) -> None:
    """Python itself would drop the output in silence."""
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m trainyard rules >&-', sys.executable],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "generator")},
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (5, b"error: standard output is closed\n")


@pytest.mark.parametrize(("args", "code"), [(("--help",), 0), (("rules",), 5)])
def test_closed_pipe_is_seen_at_once(
    args: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result is not printed into nothing, in this process as in another."""

    def fail(*_: object, **__: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(click, "echo", fail)
    monkeypatch.setattr("click.core.echo", fail)
    # click replaces both streams by silent ones.
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)

    assert main.run(args) == code


def test_closed_stdout_is_seen_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No work is done when its result could not be printed."""
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "argv", ["trainyard", "rules"])

    assert main.main() == 5
    assert capsys.readouterr().err == "error: standard output is closed\n"


def test_buffer_that_can_not_be_emptied_is_put_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter must not try again at its end and change the exit code."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        monkeypatch.setattr(sys, "argv", ["trainyard", "--version"])
        monkeypatch.setattr(main, "run", lambda _: full.write("lost") - 4)
        assert main.main() == 5
        full.flush()


def test_help_loads_no_command() -> None:
    """Start-up stays quick because nothing heavy is imported before it is needed."""
    code = (
        "import sys; from trainyard.cli.main import run; run(['--help']);print([m for m in "
        "sys.modules if m in ('jinja2', 'yaml', 'jsonschema', 'jsonschema_rs', 'ruamel.yaml')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, check=True, text=True
    )

    assert done.stdout.endswith("\n[]\n")


def _on_terminal(cwd: Path, *args: str, **environment: str) -> str:
    """Return what a command prints on a terminal of its own."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "trainyard", *args],
        cwd=cwd,
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY / "generator"),
            "TERM": "xterm",
            **environment,
        },
        stdout=slave,
        stderr=subprocess.DEVNULL,
    )
    os.close(slave)
    printed = b""
    try:
        while chunk := os.read(master, 1 << 16):
            printed += chunk
    except OSError:
        # Linux says EIO when the other side of a terminal is closed.
        pass
    os.close(master)
    assert process.wait() == 1
    return printed.decode()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("args", "environment", "coloured"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        ((), {"NO_COLOR": "", "TERM": "dumb"}, False),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
    ],
)
def test_colour_on_a_terminal(
    args: tuple[str, ...], environment: dict[str, str], coloured: bool, broken: Path
) -> None:
    """A terminal gets colours unless an option or NO_COLOR turns them off."""
    assert ("\x1b[" in _on_terminal(broken, "validate", *args, **environment)) is coloured


@pytest.mark.parametrize(
    ("args", "forced", "coloured"),
    [((), "", False), ((), "1", True), (("--color", "always"), "", True)],
)
@pytest.mark.usefixtures("broken")
def test_colour_in_a_pipe(
    args: tuple[str, ...],
    forced: str,
    coloured: bool,
    trainyard: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pipe gets colours only when they are asked for."""
    monkeypatch.setenv("FORCE_COLOR", forced)
    assert ("\x1b[" in trainyard("validate", *args).out) is coloured
