"""kind's control plane, with a fake kind and a fake Docker that record their calls."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path

import pytest

from tests.rehearsal.control_plane.test_components import RELEASES
from tests.rehearsal.served import Served
from trainyard.diagnostics import ToolError
from trainyard_rehearsal.control_plane.build import Built
from trainyard_rehearsal.control_plane.certificates import Certificates
from trainyard_rehearsal.control_plane.components import KIND, read_components
from trainyard_rehearsal.control_plane.endpoint import Endpoint
from trainyard_rehearsal.control_plane.kind import KindCluster, need_engine
from trainyard_rehearsal.control_plane.processes import LOOPBACK

pytestmark = pytest.mark.thorough

_KIND = KindCluster("kindest/node:v1.36.4@sha256:0")
_PLAYED = """#!{python}
import json, os, signal, sys, time
from pathlib import Path
with Path({calls!r}).open("a") as calls:
    calls.write(json.dumps([Path(sys.argv[0]).name, *sys.argv[1:]]) + "\\n")
{rest}
"""
_CREATES = """
if sys.argv[1] == "create":
    assert os.environ["KIND_EXPERIMENTAL_PROVIDER"] == "docker"
    path = Path(sys.argv[sys.argv.index("--kubeconfig") + 1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text({kubeconfig!r})
"""
_ENGINE = """
if sys.argv[1] == "container":
    print({address!r})
elif sys.argv[1] == "exec":
    os.execvp(sys.argv[3], sys.argv[3:])
"""
_KUBECONFIG = """apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: {authority}
    server: https://127.0.0.1:{port}
  name: kind-rehearsal
contexts:
- context:
    cluster: kind-rehearsal
    user: kind-rehearsal
  name: kind-rehearsal
current-context: kind-rehearsal
kind: Config
users:
- name: kind-rehearsal
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
"""
"""As kind 0.33 writes it."""


class Machine:
    """A machine with a fake kind, and a fake Docker if wanted."""

    def __init__(self, folder: Path, port: int, certificates: Certificates) -> None:
        self.folder, self.run = folder, folder / "run"
        self._calls = folder / "calls"
        self._kubeconfig = _KUBECONFIG.format(
            authority=_encoded(certificates.authority),
            certificate=_encoded(certificates.certificate),
            key=_encoded(certificates.key),
            port=port,
        )
        (folder / "bin").mkdir()
        self.have_kind()

    def have_kind(self, before: str = "") -> None:
        """Add a fake kind that runs some code first."""
        self._have("kind", before + _CREATES.format(kubeconfig=self._kubeconfig))

    def have_docker(self, address: str = LOOPBACK, before: str = "") -> None:
        """Add a fake Docker whose containers reach this machine at an address."""
        self._have("docker", before + _ENGINE.format(address=address))

    def _have(self, name: str, rest: str) -> None:
        program = self.folder / "bin" / name
        program.write_text(
            _PLAYED.format(python=sys.executable, calls=str(self._calls), rest=rest),
            encoding="utf-8",
        )
        program.chmod(0o755)

    @property
    def built(self) -> Built:
        """The fake kind as a built program."""
        return Built({"kind": self.folder / "bin" / "kind"}, {}, ())

    @property
    def calls(self) -> list[list[str]]:
        """Every command so far."""
        return [json.loads(line) for line in self._calls.read_text(encoding="utf-8").splitlines()]

    def create_cluster(self) -> Endpoint:
        """Run a control plane, and end it."""
        with KindCluster("kindest/node:v1.36.4").running(
            Built({"kind": self.folder / "bin" / "kind"}, {}, ()), self.run, None
        ) as endpoint:
            return endpoint

    @property
    def commands(self) -> list[str]:
        """Commands of the calls of kind."""
        return [arguments[0] for arguments in self.arguments]

    @property
    def arguments(self) -> list[list[str]]:
        """Arguments of the calls of kind."""
        return [call[1:] for call in self.calls if call[0] == "kind"]


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


@pytest.fixture
def machine(
    tmp_path: Path, server: Served, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> Machine:
    """A machine with kind, whose PATH has its programs and the usual ones."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.defpath}")
    return Machine(tmp_path, server.port, certificates)


def test_missing_docker_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error says that only `--on kind` needs it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError) as raised:
        need_engine()
    assert str(raised.value) == (
        "`--on kind` needs a Docker engine; without `--on kind` none is needed. docker can't be "
        "started: No such file or directory"
    )


def test_missing_engine_is_reported_with_dockers_message(machine: Machine) -> None:
    machine.have_docker(before="sys.exit('Cannot connect to the Docker daemon')")
    with pytest.raises(
        ToolError,
        match=r"`docker version` failed with exit code 1: Cannot connect to the Docker daemon$",
    ):
        need_engine()


def test_engine_that_answers_is_enough(machine: Machine) -> None:
    machine.have_docker()
    need_engine()
    assert [call[:2] for call in machine.calls] == [["docker", "version"]]


@pytest.mark.parametrize("release", RELEASES)
def test_cluster_is_one_node_of_the_releases_kubernetes(release: str) -> None:
    """The image has the processes' minor version and a digest; there is no pod network."""
    components = read_components(release, KIND)
    minor = components.programs["kubectl"].version.rpartition(".")[0]
    configuration = KindCluster(components.node_image).configuration

    assert components.node_image.startswith(f"kindest/node:v{minor}.")
    assert len(components.node_image.partition("@sha256:")[2]) == 64
    assert configuration["nodes"] == [{"role": "control-plane", "image": components.node_image}]
    assert configuration["networking"] == {
        "apiServerAddress": "127.0.0.1",
        "disableDefaultCNI": True,
        "kubeProxyMode": "none",
    }


def test_cluster_is_created_and_deleted(machine: Machine) -> None:
    """A killed run's cluster is deleted first; the administrator has access to the new one."""
    machine.have_docker()
    endpoint = machine.create_cluster()
    delete, create, end = machine.arguments
    *command, config, option, name = create[:6]

    assert (command, option) == (["create", "cluster", "--config"], "--name")
    assert "kind.x-k8s.io/v1alpha4" in Path(config).read_text()
    assert delete == end == ["delete", "cluster", *create[4:]]
    assert name.startswith("trainyard-rehearsal-")
    assert create[6:] == ["--kubeconfig", str(machine.run / "kind" / "kubeconfig")]
    with endpoint.api() as api:
        assert api.ready()


def test_certificates_of_the_kubeconfig_become_files(
    machine: Machine, certificates: Certificates
) -> None:
    """Our kubeconfig names the files; only their owner can read keys."""
    machine.have_docker()
    endpoint = machine.create_cluster()
    written = json.loads(endpoint.kubeconfig("admin").read_text())

    assert endpoint.authority.read_bytes() == certificates.authority.read_bytes()
    assert written["clusters"][0]["cluster"]["server"] == endpoint.server
    assert written["users"][0]["user"].keys() == {"client-certificate", "client-key"}
    assert Path(endpoint.admin["client-key"]).read_bytes() == certificates.key.read_bytes()
    assert Path(endpoint.admin["client-key"]).stat().st_mode & 0o777 == 0o600


def test_each_cache_has_its_own_cluster(machine: Machine) -> None:
    """A cluster is named after the folder of its run, which one run uses at a time."""
    machine.have_docker()
    machine.create_cluster()
    machine.run = machine.folder / "other"
    machine.create_cluster()
    names = [call[call.index("--name") + 1] for call in machine.calls if call[1] == "create"]
    assert len(set(names)) == 2


def test_failed_cluster_is_deleted(machine: Machine) -> None:
    """The error has the end of kind's log, and the incomplete cluster is deleted."""
    machine.have_kind("if sys.argv[1] == 'create': sys.exit('failed to init node with kubeadm')")
    with pytest.raises(
        ToolError,
        match=r"^`kind create` failed with exit code 1: failed to init node with kubeadm$",
    ):
        machine.create_cluster()
    assert machine.commands == ["delete", "create", "delete"]


def test_interrupt_deletes_the_cluster(machine: Machine) -> None:
    """Ctrl-C while kind runs ends kind, then deletes the cluster."""
    machine.have_kind(
        "if sys.argv[1] == 'create': os.kill(os.getppid(), signal.SIGINT); time.sleep(60)"
    )
    with pytest.raises(KeyboardInterrupt):
        machine.create_cluster()
    assert machine.commands == ["delete", "create", "delete"]


@pytest.mark.parametrize(
    ("address", "before"),
    [("192.0.2.1", ""), (LOOPBACK, "if sys.argv[1] == 'exec': sys.exit(124)"), ("", "")],
)
def test_unreachable_machine_is_reported(machine: Machine, address: str, before: str) -> None:
    """The container must reach webhooks on this machine, or later requests would time out."""
    machine.have_docker(address, before)
    with pytest.raises(ToolError, match=r"can't call webhooks on this machine, at"):
        machine.create_cluster()
    assert machine.commands[-1] == "delete"


def test_additional_objects_of_kind_are_deleted(machine: Machine, server: Served) -> None:
    """kind's node is unschedulable; CoreDNS and the default StorageClass are deleted."""
    machine.have_docker()
    node = server.put("v1", "Node", "kind-control-plane")
    server.put("apps/v1", "Deployment", "coredns", "kube-system")
    server.put("storage.k8s.io/v1", "StorageClass", "standard")
    with _KIND.running(machine.built, machine.run, None) as endpoint:
        _KIND.start_controllers(endpoint)

    (left,) = server.objects.values()
    assert (left["metadata"]["name"], left["spec"]) == (
        node["metadata"]["name"],
        {"unschedulable": True},
    )
