"""The programs that jobs find in /opt/trainyard, written by the script of their init container, run
by a real bash."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rules.cases import platform_of
from trainyard.render.environment import variables
from trainyard.render.site import render_site

RUNTIME = "runtimes/openmpi-cuda.yaml"
LIBRARIES = {"openmpi": "openmpi", "intel-mpi": "intel-mpi", "torchrun": "torch"}
VERSIONS = {"openmpi": "5.0.6", "intel-mpi": "2021.13", "torchrun": "2.6.0"}
WORDS = st.lists(
    st.text(st.sampled_from("ab =\"'\\$`#;|&*~!%{}()<>\t\nü🚀"), min_size=1, max_size=8), max_size=4
)
"""What a shell would trip over."""

Tool = Callable[..., subprocess.CompletedProcess[str]]


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """Return what kubelet makes of a command or value
    (kubernetes:third_party/forked/golang/expansion/expand.go)."""

    def known(found: re.Match[str]) -> str:
        return "$" if found[0] == "$$" else environment.get(found[1], found[0])

    return re.sub(r"\$\$|\$\(([^)]*)\)", known, text)


def environment_of(container: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment that a container's program gets."""
    environment: dict[str, str] = {}
    for variable in container.get("env", ()):
        environment[variable["name"]] = expanded(variable["value"], environment)
    return environment


def specs(kind: str, launcher: str, export: Sequence[str]) -> list[dict[str, Any]]:
    """Return what the base has of a kind when its runtime has another launcher."""
    libraries = {"openmpi": None, LIBRARIES[launcher]: VERSIONS[launcher]}
    fields = {
        "launcher": launcher,
        "libraries": libraries,
        **({"export": list(export)} if export else {}),
    }
    (site,) = platform_of({RUNTIME: fields}).sites
    return [each.body["spec"] for each in render_site(site) if each.body["kind"] == kind]


def pod(launcher: str, export: Sequence[str] = ()) -> dict[str, Any]:
    """Return the pod of the first rank."""
    (spec,) = specs("ClusterTrainingRuntime", launcher, export)
    return dict(
        spec["template"]["spec"]["replicatedJobs"][-1]["template"]["spec"]["template"]["spec"]
    )


def write_tools(spec: Mapping[str, Any], folder: Path) -> list[str]:
    """Run the init container, with a folder of ours in place of its own, and return the names of
    what it wrote."""
    (container,) = (each for each in spec["initContainers"] if each["name"] == "tools")
    environment = environment_of(container)
    script = expanded(container["command"][2], environment)
    assert "/tools/" in script
    command = [*container["command"][:2], script.replace("/tools/", "./")]
    subprocess.run(command, cwd=folder, env={"PATH": os.environ["PATH"], **environment}, check=True)
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def mpirun(tmp_path: Path) -> Tool:
    """Intel MPI's launcher on the hosts of a job, before an mpiexec that tells what it was
    given."""
    (tmp_path / "tools").mkdir()
    assert write_tools(pod("intel-mpi"), tmp_path / "tools") == ["mpirun"]
    program = tmp_path / "tools" / "mpirun"
    assert program.stat().st_mode & 0o777 == 0o755
    text = program.read_text()
    for place in ("/etc/mpi/hostfile", "/proc/sys/kernel/hostname"):
        assert place in text
        text = text.replace(place, str(tmp_path / Path(place).name))
    program.write_text(text)
    stub = tmp_path / "mpiexec.hydra"
    stub.write_text(
        '#!/bin/bash\necho "$I_MPI_PERHOST" $(< "$I_MPI_HYDRA_HOST_FILE")\nprintf "<%s>" '
        '"$@"\nexit "${CODE:-0}"\n'
    )
    stub.chmod(0o755)
    (tmp_path / "hostname").write_text("job-launcher-0-0\n")
    (tmp_path / "hostfile").write_text(
        "".join(f"job-{role}-0-0.job slots=64\n" for role in ("launcher", "node"))
    )

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        always = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
        command = [str(program), *words]
        return subprocess.run(
            command, env={**always, **environment}, capture_output=True, text=True, check=False
        )

    return run


def test_intel_mpi_gets_the_hosts_of_the_job(mpirun: Tool) -> None:
    """Hosts without `slots=`, its own by the name that the machine gives, and as many ranks on each
    as Trainer says."""
    done = mpirun("-n", "2", "./simulate")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "64 job-launcher-0-0 job-node-0-0.job\n<-n><2><./simulate>"


def test_intel_mpi_obeys_the_job(mpirun: Tool) -> None:
    """A number of ranks that the job sets is left alone, and how the program ended is how the job
    ended."""
    done = mpirun("./simulate", I_MPI_PERHOST="4", CODE="7")

    assert done.returncode == 7
    assert done.stdout.startswith("4 ")


def test_intel_mpi_without_a_program_fails_with_a_message(mpirun: Tool) -> None:
    """`mpiexec.hydra` alone would print its usage and end well, and so would the job."""
    done = mpirun()

    assert (done.returncode, done.stdout) == (64, "")
    assert "give the program" in done.stderr


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=WORDS)
def test_intel_mpi_is_given_the_jobs_own_words(mpirun: Tool, words: list[str]) -> None:
    """Nothing that a word holds is read by a shell on the way."""
    done = mpirun("program", *words)

    assert done.stdout.partition("\n")[2] == "".join(f"<{word}>" for word in ("program", *words))


@pytest.fixture(scope="module")
def with_export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that runs a job's command, and then the runtime's export."""
    folder = tmp_path_factory.mktemp("tools")
    assert write_tools(pod("torchrun", ["save"]), folder) == ["with-export"]
    return folder / "with-export"


def test_program_is_the_same_for_every_launcher(with_export: Path, tmp_path: Path) -> None:
    """Beside another of ours or alone, in MPI jobs too."""
    texts = []
    for launcher in ("openmpi", "intel-mpi"):
        folder = tmp_path / launcher
        folder.mkdir()
        names = write_tools(pod(launcher, ["save"]), folder)
        assert names == (["mpirun", "with-export"] if launcher == "intel-mpi" else ["with-export"])
        texts.append((folder / "with-export").read_text())

    assert texts == [with_export.read_text()] * 2


@pytest.mark.parametrize(
    ("index", "command", "code", "exported"),
    [
        ("0", "exit 0", 0, True),
        (None, "exit 0", 0, True),
        ("1", "exit 0", 0, False),
        ("0", "exit 3", 3, False),
        ("1", "exit 3", 3, False),
        ("0", "kill -KILL $$", 137, False),
        ("0", "no-such-program", 127, False),
    ],
)
def test_export_runs_once_after_a_job_that_ended_well(
    with_export: Path, index: str | None, command: str, code: int, exported: bool
) -> None:
    """In the first pod only, which has index 0 or, in an MPI job, none; else the job's own end is
    told."""
    place = {"JOB_COMPLETION_INDEX": index} if index else {}
    environment = {"PATH": os.environ["PATH"], "EXPORT_COMMAND": "echo saved", **place}
    words = [str(with_export), "bash", "-c", f"echo trained; {command}"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (code, "trained\nsaved\n" if exported else "trained\n")


def test_job_to_copy_runs_and_is_exported(with_export: Path, tmp_path: Path) -> None:
    """As it stands in the sample: torchrun is started with its arguments, then the export."""
    trainer = specs("TrainJob", "torchrun", ["save"])[0]["trainer"]
    words: list[str] = trainer["command"] + trainer["args"]
    stub = tmp_path / "torchrun"
    stub.write_text('#!/bin/bash\necho "torchrun $*"\n')
    stub.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "EXPORT_COMMAND": "echo saved"}
    command = [str(with_export), *words[1:]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert words[0] == "/opt/trainyard/with-export"
    assert (done.returncode, done.stdout) == (0, "torchrun --no-python hostname\nsaved\n")


def test_export_that_fails_fails_the_job(with_export: Path) -> None:
    """A model that was not saved is not a result."""
    environment = {"PATH": os.environ["PATH"], "EXPORT_COMMAND": "exit 9"}

    assert subprocess.run([with_export, "true"], env=environment, check=False).returncode == 9


def test_signal_is_passed_to_the_ranks_and_nothing_is_exported(
    with_export: Path, tmp_path: Path
) -> None:
    """Kubernetes signals process 1 only; the ranks have the time to write a checkpoint, and their
    own end is told."""
    ready = tmp_path / "ready"
    ranks = (
        f"trap 'sleep 0.2; echo checkpoint; exit 5' TERM; touch {ready}; while :; do sleep "
        "0.05; done"
    )
    environment = {"PATH": os.environ["PATH"], "EXPORT_COMMAND": "echo saved"}
    command = [str(with_export), "bash", "-c", ranks]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as job:
        while not ready.exists():
            assert job.poll() is None
            time.sleep(0.01)
        job.send_signal(signal.SIGTERM)
        output, _ = job.communicate(timeout=60)

    assert (job.returncode, output) == (5, "checkpoint\n")


def test_signal_at_the_very_start_reaches_the_ranks(with_export: Path) -> None:
    """The ranks send it themselves, before process 1 may know their number."""
    ranks = "trap 'exit 5' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"
    environment = {"PATH": os.environ["PATH"], "EXPORT_COMMAND": "echo saved"}
    command = [str(with_export), "bash", "-c", ranks]

    for _ in range(20):
        done = subprocess.run(command, env=environment, timeout=60, check=False)
        assert done.returncode == 5


def test_ranks_that_end_at_once_tell_their_own_end(with_export: Path) -> None:
    """They have ended before process 1 has done what it does on the signal."""
    ranks = "trap 'exit 5' TERM; sleep 0.1; kill -TERM $PPID; while :; do sleep 0.01; done"
    slow_kill = {"BASH_FUNC_kill%%": '() { builtin kill "$@" && sleep 0.3; }'}
    environment = {"PATH": os.environ["PATH"], "EXPORT_COMMAND": "echo saved", **slow_kill}
    command = [str(with_export), "bash", "-c", ranks]

    done = subprocess.run(command, env=environment, timeout=60, check=False)

    assert done.returncode == 5


@pytest.mark.parametrize("by_hook", [False, True])
def test_checkpoint_of_a_deleted_pod_is_not_exported(
    with_export: Path, tmp_path: Path, *, by_hook: bool
) -> None:
    """Ranks that end well on a signal are not a finished job, signalled at process 1 or by the
    hook before."""
    script, mark, ready = with_export.read_text(), tmp_path / "ending", tmp_path / "ready"
    assert "/dev/shm/.trainyard-ending" in script
    script = script.replace("/dev/shm/.trainyard-ending", str(mark))
    ranks = f"trap 'exit 0' TERM; touch {ready}; while [[ ! -e {mark} ]]; do sleep 0.05; done"
    environment = {"PATH": os.environ["PATH"], "EXPORT_COMMAND": "echo saved"}
    command = ["bash", "-c", script, "with-export", "bash", "-c", ranks]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as job:
        while not ready.exists():
            assert job.poll() is None
            time.sleep(0.01)
        mark.touch() if by_hook else job.send_signal(signal.SIGTERM)
        output, told = job.communicate(timeout=60)

    assert (job.returncode, output) == (143, "")
    assert "nothing is exported" in told


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(job=WORDS, export=WORDS)
def test_job_and_export_get_their_own_words(
    with_export: Path, job: list[str], export: list[str]
) -> None:
    """Neither kubelet, which replaces what looks like a variable, nor a shell reads anything in
    them."""
    show = ("printf", "[%s]")
    (stated,) = variables({"EXPORT_COMMAND": shlex.join([*show, *export])})
    environment = {"PATH": os.environ["PATH"], **environment_of({"env": [stated]})}
    done = subprocess.run(
        [str(with_export), *show, *job],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "".join(
        "".join(f"[{word}]" for word in words) or "[]" for words in (job, export)
    )


def test_export_of_a_profile_is_in_the_pod() -> None:
    """As the container states it: process ids and variables of other shells are left as they stand
    in the profile."""
    words = ["sh", "-c", "echo $$ $(HOME) it's"]
    container = pod("openmpi", words)["containers"][0]

    assert shlex.split(environment_of(container)["EXPORT_COMMAND"]) == words


@pytest.mark.parametrize("launcher", sorted(LIBRARIES))
@pytest.mark.parametrize("export", [(), ("save",)], ids=["alone", "export"])
def test_job_without_a_command_fails_at_once(launcher: str, export: tuple[str, ...]) -> None:
    """It says what the job lacks, instead of ending well with nothing done."""
    container = pod(launcher, export)["containers"][0]
    done = subprocess.run(container["command"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (64, "")
    assert "as spec.trainer." in done.stderr
