from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.verify.programs import program
from trainyard import programs
from trainyard.diagnostics import ToolError
from trainyard.git.repository import Repository, find_commit
from trainyard.programs import Completed, NotStartedError, run

GENERATOR = Path(__file__).resolve().parents[1] / "generator"


def _lives(pid: int) -> bool:
    """Return whether a process still runs; a killed one may be a zombie until init collects it."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            != "Z"
        )
    except (FileNotFoundError, ProcessLookupError):
        return False


def _wait_until_dead(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while _lives(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not _lives(pid)


def test_run_returns_what_was_printed(tmp_path: Path) -> None:
    """Both streams, the exit code and the working folder are the program's own."""
    path = program(tmp_path, "tool", 'pwd; echo "$1" >&2; exit 1')
    assert run([path, "ü b"], timeout=10, cwd=tmp_path, accept=(0, 1)) == Completed(
        1, f"{tmp_path}\n", "ü b\n"
    )


def test_run_gives_no_input_and_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program reads nothing from the terminal and sees neither the user's proxies, tokens nor
    PATH."""
    monkeypatch.setenv("TOKEN", "secret")
    monkeypatch.setenv("https_proxy", "http://proxy.example")
    monkeypatch.setenv("HOME", "/home/x")
    monkeypatch.delenv("TMPDIR", raising=False)
    message = run([program(tmp_path, "tool", "cat; exec /usr/bin/env")], timeout=10).stdout
    assert {line.partition("=")[0] for line in message.splitlines()} <= {
        "GOGC", "HOME", "HTTP_PROXY", "HTTPS_PROXY", "LC_ALL", "PWD", "OLDPWD", "SHLVL", "_",
    }  # fmt: skip
    assert "HOME=/home/x" in message
    assert "HTTPS_PROXY=http://127.0.0.1:9" in message


def test_hanging_program_is_stopped_with_its_children(tmp_path: Path) -> None:
    """A program that ignores SIGTERM, and the child it forked, are gone when the time is up."""
    script = 'trap "" TERM; sleep 60 & echo $! >child; sleep 60'
    with pytest.raises(ToolError, match="`tool` did not end in time"):
        run([program(tmp_path, "tool", script)], timeout=1.0, cwd=tmp_path)
    assert _wait_until_dead(int((tmp_path / "child").read_text(encoding="utf-8")))


def test_program_that_closes_its_output_and_hangs_is_stopped(tmp_path: Path) -> None:
    """Closed streams are not the end of a program."""
    with pytest.raises(ToolError, match="did not end in time"):
        run([program(tmp_path, "tool", "exec >&- 2>&-; sleep 60")], timeout=0.3)


def test_child_left_behind_is_ended(tmp_path: Path) -> None:
    """A child that outlives a program that succeeded does not outlive the call."""
    script = "sleep 60 >/dev/null 2>&1 & echo $!"
    assert _wait_until_dead(int(run([program(tmp_path, "tool", script)], timeout=10).stdout))


def test_flood_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output beyond the limit ends the program instead of filling the memory."""
    monkeypatch.setattr(programs, "OUTPUT_LIMIT", 3 << 20)
    with pytest.raises(ToolError, match="printed more than 3 MB"):
        run([program(tmp_path, "tool", "exec cat /dev/zero")], timeout=30)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo panic: boom >&2; exit 2", "failed with exit code 2: panic: boom"),
        ("kill -SEGV $$", "failed with signal 11"),
        (r"printf '\377'", "not UTF-8"),
    ],
)
def test_failing_program_is_an_error(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        run([program(tmp_path, "tool", script)], timeout=10)


def test_long_complaint_is_cut_to_its_end(tmp_path: Path) -> None:
    """Of a long stack trace the last part is shown."""
    path = program(
        tmp_path, "tool", "head -c 90000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 3"
    )
    with pytest.raises(ToolError, match=r"x{1900,1997}end$"):
        run([path], timeout=10)


def test_program_that_is_none_is_an_error(tmp_path: Path) -> None:
    """A file that can't be started is named."""
    (tmp_path / "tool").write_bytes(b"\x7fELF")
    (tmp_path / "tool").chmod(0o755)
    for name in ("tool", "missing"):
        with pytest.raises(NotStartedError, match=f"{name} can't be started"):
            run([tmp_path / name], timeout=10)


def test_open_files_are_not_leaked(tmp_path: Path) -> None:
    """Twenty failing runs hold no more files than none."""
    path = program(tmp_path, "tool", "exit 9")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        with pytest.raises(ToolError):
            run([path], timeout=10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stranger's commit in the current folder, with programs that leave a mark when they run."""
    here = tmp_path / "commit"
    for folder in (here, here / "bin"):
        for name in ("git", "go", "kubectl", "kustomize", "tool"):
            program(folder, name, f"touch {tmp_path}/ran")
    (tmp_path / "link").symlink_to(here)
    monkeypatch.chdir(here)
    return here


HOSTILE_PATHS = (
    "",
    ".",
    "./",
    "bin",
    "./bin",
    ":",
    "{here}",
    "{here}/",
    "{here}/../commit",
    "{link}",
)


@pytest.mark.parametrize("path", HOSTILE_PATHS)
@pytest.mark.parametrize("name", ["git", "go", "kubectl", "kustomize"])
def test_program_of_the_current_folder_is_never_found(
    strangers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, name: str
) -> None:
    """Neither by a lookup, nor by a bare name, nor by what a program starts itself."""
    hostile = path.format(here=strangers, link=tmp_path / "link")
    real = tmp_path / "real"
    mine = program(real, "mine", f"{name} || echo missing")
    monkeypatch.setenv("PATH", hostile)
    assert programs.find(name) is None
    with pytest.raises(NotStartedError, match=f"{name} can't be started: No such file"):
        run([name], timeout=10, environment={"PATH": hostile})

    monkeypatch.setenv("PATH", f"{hostile}:{real}")
    assert programs.find("mine") == mine
    started = run(["mine"], timeout=10, environment={"PATH": f"{hostile}:{real}"})
    assert started.stdout == "missing\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_commands_run_no_git_of_the_current_folder(
    strangers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Without another Git it is missing, which is not a fault of the commit that was named."""
    monkeypatch.setenv("PATH", path.format(here=strangers, link=tmp_path / "link"))
    with pytest.raises(ToolError, match="`git` is missing"):
        find_commit(Repository(strangers), "HEAD")
    assert not (tmp_path / "ran").exists()


def test_one_place_looks_programs_up() -> None:
    """Another lookup would take a relative folder of PATH."""
    code = {path: path.read_text(encoding="utf-8") for path in GENERATOR.rglob("*.py")}
    own = GENERATOR / "trainyard" / "programs.py"

    assert own in code
    for path, text in code.items():
        assert "shutil.which" not in text, path
        assert "get_exec_path" not in text, path
