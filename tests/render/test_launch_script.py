"""The script of the MPI nodes, run by a real bash up to the sshd that it would start."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainyard.generation.generate import generate

ROOT = Path(__file__).parents[2]
SSHD = '/usr/sbin/sshd -De -f "$work/sshd_config" &\nwait "$!"'
SETTINGS = {
    "Port": "2222",
    "HostKey": "/home/mpiuser/.ssh/id_rsa",
    "AuthorizedKeysFile": "/home/mpiuser/.ssh/authorized_keys",
    "PidFile": "none",
    "StrictModes": "no",
    "UsePAM": "no",
    "PasswordAuthentication": "no",
    "KbdInteractiveAuthentication": "no",
}
"""Without any one of them sshd does not start as an arbitrary uid, or lets nobody in."""

FIPS = ["Ciphers", "MACs", "KexAlgorithms", "HostKeyAlgorithms", "PubkeyAcceptedAlgorithms"]
"""Added where the nodes are in FIPS mode."""

AGENTS = {
    "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
    "OMPI_MCA_plm_rsh_agent",
    "PRTE_MCA_plm_ssh_agent",
}
"""Variables with the ssh command of Intel MPI, Open MPI 4 and Open MPI 5."""

Run = Callable[[Mapping[str, str]], subprocess.CompletedProcess[bytes]]


def replicated_jobs(runtime: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the container called node of each replicated job."""
    jobs = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    return {
        job["name"]: job["template"]["spec"]["template"]["spec"]["containers"][0] for job in jobs
    }


def init_script(pod: Mapping[str, Any], name: str) -> str:
    """Return the script of an init container; empty when the pod has none of that name."""
    return next(
        (str(each["command"][2]) for each in pod.get("initContainers", ()) if each["name"] == name),
        "",
    )


def runtimes(*, mpi: bool = True) -> list[Mapping[str, Any]]:
    """Return the runtimes of this repository: those that start MPI ranks in other pods, or all."""
    generation = generate(ROOT / "profiles", "../profiles/components")
    bodies = [
        manifest.body for manifests in generation.manifests.values() for manifest in manifests
    ]
    kind = [body for body in bodies if body["kind"] == "ClusterTrainingRuntime"]
    return [
        body
        for body in kind
        if not mpi or ("mpi" in body["spec"]["mlPolicy"] and "node" in replicated_jobs(body))
    ]


@pytest.fixture(scope="module")
def script() -> str:
    """The one script of all runtimes."""
    (script,) = {str(replicated_jobs(runtime)["node"]["command"][2]) for runtime in runtimes()}
    return script


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for temporary files."""
    home = tmp_path_factory.mktemp("node")
    (home / "tmp").mkdir()
    return home


@pytest.fixture(scope="module")
def run(script: str, home: Path) -> Run:
    """Run the script in an environment; it prints sshd's configuration instead of starting it."""
    assert script.endswith(f"{SSHD}\n")
    tame = script.replace(SSHD, 'cat "$work/sshd_config"')

    def run(environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
        always = {"PATH": os.environ["PATH"], "TMPDIR": str(home / "tmp")}
        return subprocess.run(
            ["bash", "-c", tame], env={**always, **environment}, capture_output=True, check=False
        )

    return run


def words(line: str) -> Iterator[str]:
    """Split a configuration line as OpenSSH does since 8.7: any backslash but before a quote or
    itself is literal."""
    word, quote, inside, rest = "", "", False, iter(range(len(line)))
    for i in rest:
        char, pair = line[i], line[i : i + 2]
        if pair in ("\\\\", '\\"', "\\'") or (pair == "\\ " and not quote):
            word, inside = word + pair[1], True
            next(rest)
        elif char in ('"', "'") and quote in ("", char):
            quote, inside = char if not quote else "", True
        elif char in " \t" and not quote:
            yield from [word] if inside else []
            word, inside = "", False
        elif char == "#" and not quote and not inside:
            return
        else:
            word, inside = word + char, True
    assert not quote, "an open quote: sshd refuses the file"
    yield from [word] if inside else []


def handed_on(configuration: bytes) -> dict[str, str]:
    """Return the environment that sshd gives to logins: it reads the first SetEnv line only."""
    lines = [line for line in configuration.decode().split("\n") if line.startswith("SetEnv")]
    assert len(lines) == 1
    pairs = [word.partition("=") for word in words(lines[0])][1:]
    return {name: value for name, _, value in pairs}


def test_node_script_is_valid_bash(script: str) -> None:
    """Bash accepts the script's grammar: an error in it would end every job at its start."""
    done = subprocess.run(["bash", "-n", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_sshd_is_configured_for_an_arbitrary_uid(run: Run) -> None:
    """The configuration has each setting exactly once, with no word of the script left
    unexpanded."""
    lines = run({}).stdout.decode().splitlines()
    seen = {keyword: value for keyword, _, value in (line.partition(" ") for line in lines)}
    assert len(seen) == len(lines)
    assert SETTINGS.items() <= seen.items()


def test_fips_mode_leaves_approved_algorithms_only(run: Run) -> None:
    """Both ends of a connection are held to the same lists, and only where the nodes are in FIPS
    mode."""
    plain, strict = (
        run(variables).stdout.decode().splitlines() for variables in ({}, {"SSH_CRYPTO": "fips"})
    )
    lines = [line for line in strict if line not in plain]
    assert [line.partition(" ")[0] for line in lines] == FIPS
    assert not any(
        word in line for line in lines for word in ("chacha20", "curve25519", "sha1", "ed25519")
    )
    agents = {
        variable["value"]
        for runtime in runtimes()
        for variable in replicated_jobs(runtime)["launcher"]["env"]
        if variable["name"] in AGENTS and "Ciphers" in variable["value"]
    }
    assert agents
    assert all(f"-o {line.replace(' ', '=', 1)}" in agent for agent in agents for line in lines)


def test_every_pod_ends_its_ranks_in_the_same_way() -> None:
    """The script of process 1 and the hooks before the end of a job's command hold one function,
    and call it."""
    functions = set()
    for runtime in runtimes(mpi=False):
        for name, container in replicated_jobs(runtime).items():
            if name.endswith("-initializer"):
                continue
            hook = (
                container.get("lifecycle", {})
                .get("preStop", {})
                .get("exec", {})
                .get("command", ["", "", ""])[2]
            )
            script = hook or container["command"][2]
            begin, end = script.index("# Tells each rank"), script.index("} 2> /dev/null\n")
            functions.add(script[begin:end])
            assert (
                "\nend_ranks\n" in script
                if hook
                else "\ntrap 'end_ranks; exit 143' TERM\n" in script
            )
    assert len(functions) == 1


def test_ranks_have_the_grace_of_the_runtime() -> None:
    """Every pod with ranks has it, 30 seconds where the profile is silent."""
    for runtime in runtimes(mpi=False):
        jobs = runtime["spec"]["template"]["spec"]["replicatedJobs"]
        pods = {job["name"]: job["template"]["spec"]["template"]["spec"] for job in jobs}
        graces = {
            pods[name]["terminationGracePeriodSeconds"]
            for name in ("launcher", "node")
            if name in pods
        }
        assert graces == {120 if runtime["metadata"]["name"].startswith("deepspeed-") else 30}


def settings_of(configuration: bytes, key: Path) -> dict[str, str]:
    """Return the settings by lower-case keyword: as sshd reads them where one works, else as they
    stand there."""
    text = configuration.decode()
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    # As root it wants a folder that only a machine which serves ssh has.
    if (
        sshd
        and subprocess.run([sshd, "-t", "-f", "/dev/null", "-h", str(key)], check=False).returncode
        == 0
    ):
        file = key.with_name("sshd_config")
        file.write_text(text.replace(SETTINGS["HostKey"], str(key)))
        done = subprocess.run(
            [sshd, "-T", "-f", str(file)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        text = done.stdout
    lines = (line.partition(" ") for line in text.splitlines())
    return {keyword.lower(): value for keyword, _, value in lines}


@pytest.mark.parametrize("fips", [False, True])
def test_sshd_takes_every_setting(run: Run, tmp_path: Path, *, fips: bool) -> None:
    """Its own test of the configuration passes, and the settings that the connection hangs on come
    out as written."""
    key = tmp_path / "id_rsa"
    if keygen := shutil.which("ssh-keygen"):
        # Of the kind that Trainer makes (pkg/runtime/framework/plugins/mpi).
        subprocess.run(
            [keygen, "-q", "-t", "ecdsa", "-b", "521", "-N", "", "-f", str(key)], check=True
        )
    written = run({"HOSTILE": 'a "b" c\\d #', **({"SSH_CRYPTO": "fips"} if fips else {})}).stdout
    seen = settings_of(written, key)
    wanted = dict(line.split(" ", 1) for line in written.decode().splitlines())

    for keyword in {"Port", "PidFile", "StrictModes", "UsePAM", "MaxStartups"} | set(
        FIPS if fips else ()
    ):
        assert seen[keyword.lower()].lower() == wanted[keyword].lower()


def test_ports_and_user_agree_with_the_launcher() -> None:
    """The launcher's ssh, the probes and the container's port name the port and key that sshd is
    given."""
    for runtime in runtimes():
        node, launcher = replicated_jobs(runtime)["node"], replicated_jobs(runtime)["launcher"]
        environment = {variable["name"]: variable["value"] for variable in launcher["env"]}
        probed = {node[f"{each}Probe"]["tcpSocket"]["port"] for each in ("startup", "readiness")}
        assert {node["ports"][0]["containerPort"], int(SETTINGS["Port"])} == probed
        agents = [f"{value} " for name, value in environment.items() if name in AGENTS]
        assert len(agents) == 1
        assert f"-l mpiuser -p {SETTINGS['Port']} -i {SETTINGS['HostKey']} " in agents[0]


def test_rank_environment_is_passed_to_the_ranks(run: Run) -> None:
    """Every variable of the node's container but HOME, which the account gives, is handed on
    unchanged."""
    for runtime in runtimes():
        variables = {
            variable["name"]: variable["value"]
            for variable in replicated_jobs(runtime)["node"]["env"]
        }
        expected = {
            name: value for name, value in variables.items() if name not in {"HOME", "SSH_CRYPTO"}
        }
        assert expected.items() <= handed_on(run(variables).stdout).items()


@given(
    st.dictionaries(
        st.from_regex(r"V[A-Za-z0-9_]{0,6}", fullmatch=True),
        st.text(st.sampled_from("ab =\"'\\$`#;|&*~!%{}()<>\t\r\x01\x7fü€🚀")),
        min_size=1,
        max_size=8,
    )
)
@settings(max_examples=40, deadline=None)  # a busy machine starts bash slowly
def test_hostile_values_are_passed_to_the_ranks_unchanged(
    run: Run, environment: dict[str, str]
) -> None:
    """Whatever a value holds, short of a line break, OpenSSH reads back the same value under the
    same name."""
    done = run(environment)
    assert (done.returncode, done.stderr) == (0, b"")
    seen = handed_on(done.stdout)
    assert {name: value for name, value in seen.items() if name in environment} == environment


def test_value_with_a_line_break_is_left_out_with_a_message(run: Run) -> None:
    """A line break cannot be written in sshd's configuration: the variable is named and the rest
    goes on."""
    done = run({"BROKEN": "a\nPermitRootLogin yes", "WHOLE": "b"})
    assert done.returncode == 0
    assert b"BROKEN" in done.stderr
    assert "BROKEN" not in handed_on(done.stdout)
    assert b"PermitRootLogin" not in done.stdout
    assert handed_on(done.stdout)["WHOLE"] == "b"


@pytest.mark.parametrize(
    "name", ["HOME", "USER", "SSH_AUTH_SOCK", "KUBERNETES_PORT", "OMPI_MCA_pml", "PMIX_RANK", "a.b"]
)
def test_variables_of_the_container_itself_are_left_out(run: Run, name: str) -> None:
    """Variables of this container, of mpirun or of nothing are not passed to the ranks."""
    assert name not in handed_on(run({name: "x", "WHOLE": "b"}).stdout)


def test_account_has_a_shell_and_the_running_uid(tmp_path: Path) -> None:
    """The init container puts mpiuser with bash first for the running uid; an older mpiuser goes,
    all others stay."""
    scripts = set()
    for runtime in runtimes():
        for job in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
            pod = job["template"]["spec"]["template"]["spec"]
            mounts = {mount["mountPath"]: mount for mount in pod["containers"][0]["volumeMounts"]}
            assert mounts["/etc/passwd"]["subPath"] == "passwd"
            scripts.add(init_script(pod, "account"))
    (script,) = scripts
    (tmp_path / "image").write_text(
        "root:x:0:0:root:/root:/bin/bash\nmpiuser:x:7:7::/old:/sbin/nologin\n"
    )
    (tmp_path / "account").mkdir()
    tame = script.replace("/etc/passwd", f"{tmp_path}/image").replace(
        "/account/", f"{tmp_path}/account/"
    )

    subprocess.run(["bash", "-c", tame], check=True)

    entries = [
        line.split(":") for line in (tmp_path / "account" / "passwd").read_text().splitlines()
    ]
    assert [entry[0] for entry in entries] == ["mpiuser", "root"]
    assert entries[0][2:4] == [str(os.getuid()), str(os.getgid())]
    assert entries[0][5:] == ["/home/mpiuser", "/bin/bash"]
