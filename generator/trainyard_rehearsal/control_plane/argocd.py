"""Argo CD as processes beside a control plane, with its accounts and rights of production."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.controllers import kustomized
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.processes import LOOPBACK, answers, free_ports
from trainyard_rehearsal.control_plane.redis import Redis
from trainyard_rehearsal.control_plane.tunnel import tunnel

_APPLICATIONS, _SETS, _MANIFESTS = (
    "argocd-application-controller",
    "argocd-applicationset-controller",
    "argocd-repo-server",
)
_IN_CLUSTER = "https://kubernetes.default.svc"
_FOLDERS = (
    "base/config",
    "base/application-controller-roles",
    "base/applicationset-controller",
)
_KINDS = {"ConfigMap", "Role", "RoleBinding", "Secret", "ServiceAccount"}
_HEALTH = "resource.customizations.health"
_READ = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
"""Rules that OpenShift GitOps gives its controller in addition to the tree's own role."""

_SCRIPTS = {
    # kubectl contains kustomize; each line of the record is one build.
    "kustomize": (
        "#!/bin/sh\n"
        'if [ "$1" = version ]; then echo v5.8.1; exit; fi\n'
        'shift; echo "$@" >>"$BUILDS"; exec "$KUBECTL" kustomize "$@"\n'
    ),
    # Argo CD's image has this script, without which it generates no manifest.
    "git-verify-wrapper.sh": '#!/bin/sh\ngit verify-commit "$1" 2>&1\nexit 0\n',
}


@dataclass(frozen=True, slots=True)
class ArgoCD:
    """Argo CD, not started yet.

    Args:
        folder: folder of its own files.
        metrics_port: port of the application controller's metrics.
    """

    lab: Lab
    folder: Path
    redis: Redis
    metrics_port: int = field(default_factory=lambda: free_ports(1)[0])

    @property
    def namespace(self) -> str:
        """Namespace of Argo CD."""
        return self.lab.plan.site.cluster.argocd_namespace

    @property
    def builds(self) -> list[str]:
        """The absolute folder of each run of kustomize so far."""
        record = self.folder / "builds"
        return record.read_text(encoding="utf-8").splitlines() if record.exists() else []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run Argo CD.

        Raises:
            ToolError: a process does not start.
        """
        bin_folder = self.folder / "bin"
        bin_folder.mkdir(parents=True)
        for name, text in _SCRIPTS.items():
            (bin_folder / name).write_text(text, encoding="utf-8")
            (bin_folder / name).chmod(0o755)
        for body in self._objects():
            self.lab.api.apply(body)
        with tunnel(int(self._cluster["server"].rpartition(":")[2])) as proxy:
            if self.lab.plan.site.cluster.server != _IN_CLUSTER:
                for body in self._manager():
                    self.lab.api.apply(body)
                self.lab.api.apply(self._remote(proxy))
            self._start()
            yield

    def _objects(self) -> Iterator[Body]:
        """Yield configuration, accounts and roles of the release's Argo CD."""
        for body in chain.from_iterable(map(self._upstream, _FOLDERS)):
            if body["kind"] in _KINDS:
                yield self._adapted(body)
        by_operator = "argocd-object" in self.lab.plan.site.cluster.release.features
        for body in self._upstream("cluster-rbac/application-controller"):
            if by_operator and body["kind"] == "ClusterRole":
                body["rules"] = _READ
            yield self._adapted(body)

    def _upstream(self, folder: str) -> list[Body]:
        built = self.lab.built
        return kustomized(built.programs["kubectl"], built.manifests["argocd"] / folder)

    def _adapted(self, body: Body) -> Body:
        """Return an object of Argo CD with the names and settings of the cluster."""
        if not body["kind"].startswith("Cluster"):
            body["metadata"]["namespace"] = self.namespace
        if body["kind"] == "ServiceAccount":
            body["metadata"]["name"] = self._account(body["metadata"]["name"])
        for subject in body.get("subjects", []):
            subject |= {"name": self._account(subject["name"]), "namespace": self.namespace}
        if body["metadata"]["name"] == "argocd-cm":
            body["data"] = body.get("data", {}) | self._health_checks()
        return body

    def _account(self, name: str) -> str:
        return self.lab.plan.site.cluster.release.argocd_account if name == _APPLICATIONS else name

    def _health_checks(self) -> dict[str, str]:
        """Return the tree's health checks as keys of ``argocd-cm``."""
        folder = self.lab.plan.tree / "argocd"
        for name in ("health-customizations.yaml", "resource-health-checks.yaml"):
            if (folder / name).exists():
                (body,) = parse_manifests((folder / name).read_text(encoding="utf-8"))
        return checks_by_key(body)

    def _manager(self) -> Iterator[Body]:
        """Yield the account by which the Argo CD of another cluster comes.

        Source: argoproj/argo-cd:util/clusterauth/clusterauth.go@v3.5.7.
        """
        namespace, name = self.lab.plan.site.cluster.argocd_account.split(":")
        metadata = {"name": name, "namespace": namespace}
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
        yield {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"{name}-rehearsal"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [{"kind": "ServiceAccount", **metadata}],
        }

    def _remote(self, proxy: int) -> Body:
        """Return the Secret with which Argo CD stores a cluster at the profile's address."""
        tls = {"caData": self._authority, "serverName": "localhost"}
        namespace, name = self.lab.plan.site.cluster.argocd_account.split(":")
        config = {"bearerToken": self.lab.api.token(name, namespace), "tlsClientConfig": tls}
        config["proxyUrl"] = f"http://127.0.0.1:{proxy}"
        data = {
            "name": self.lab.plan.site.name,
            "server": self.lab.plan.site.cluster.server,
            "config": json.dumps(config),
        }
        labels = {"argocd.argoproj.io/secret-type": "cluster"}
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": "rehearsed-cluster",
                "namespace": self.namespace,
                "labels": labels,
            },
            "stringData": data,
        }

    @property
    def _cluster(self) -> dict[str, str]:
        config = json.loads(self.lab.kubeconfig.read_text(encoding="utf-8"))
        return dict(config["clusters"][0]["cluster"])

    @property
    def _authority(self) -> str:
        return base64.b64encode(Path(self._cluster["certificate-authority"]).read_bytes()).decode()

    def _token(self, name: str) -> str:
        return self.lab.api.token(self._account(name), self.namespace)

    def _start(self) -> None:
        redis, manifests, *others = free_ports(6)
        self._start_redis(redis)
        self._start_repo_server(manifests, redis, others[0])
        for port, what in ((redis, "Redis"), (manifests, "Argo CD's repo server")):
            self.lab.processes.wait_until(partial(answers, port), f"the start of {what}", 60)
        self._start_application_controller(manifests, redis)
        self._start_set_controller(manifests, others[1:])

    def _start_redis(self, port: int) -> None:
        libraries = os.pathsep.join(map(str, self.redis.libraries))
        quiet = ("--save", "", "--appendonly", "no", "--dir", str(self.folder))
        self.lab.processes.start(
            self.redis.program,
            ("--port", str(port), "--bind", LOOPBACK, *quiet),
            {"LD_LIBRARY_PATH": libraries} if libraries else {},
        )

    def _start_repo_server(self, port: int, redis: int, metrics: int) -> None:
        self._run(
            _MANIFESTS,
            *("--address", LOOPBACK, "--port", str(port), "--metrics-address", LOOPBACK),
            *("--metrics-port", str(metrics), "--redis", f"{LOOPBACK}:{redis}"),
            *("--disable-tls", "--client-ca-path", ""),
        )

    def _start_application_controller(self, manifests: int, redis: int) -> None:
        server = f"{LOOPBACK}:{manifests}"
        self._run(
            _APPLICATIONS,
            *("--repo-server", server, "--repo-server-plaintext", "--redis", f"{LOOPBACK}:{redis}"),
            *("--metrics-port", str(self.metrics_port), "--app-resync", "3600"),
            *("--kubeconfig", str(self._kubeconfig(_APPLICATIONS))),
        )

    def _start_set_controller(self, manifests: int, ports: Sequence[int]) -> None:
        metrics, probe, webhook = (f"{LOOPBACK}:{port}" for port in ports)
        self._run(
            _SETS,
            *("--argocd-repo-server", f"{LOOPBACK}:{manifests}", "--repo-server-plaintext"),
            *("--namespace", self.namespace, "--metrics-addr", metrics, "--probe-addr", probe),
            *("--webhook-addr", webhook, "--kubeconfig", str(self._kubeconfig(_SETS))),
        )

    def _run(self, role: str, *arguments: str) -> None:
        temporary = self.folder / role
        temporary.mkdir()
        environment = {
            "ARGOCD_APPLICATION_CONTROLLER_PERSIST_RESOURCE_HEALTH": "true",
            "ARGOCD_BINARY_NAME": role,
            "ARGOCD_FAKE_IN_CLUSTER": "true",
            "ARGOCD_GPG_ENABLED": "false",
            "BUILDS": str(self.folder / "builds"),
            "KUBECONFIG": str(self.folder / f"{role}.kubeconfig"),
            "KUBECTL": str(self.lab.built.programs["kubectl"]),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(temporary),
        }
        self.lab.processes.start_as(
            role, [str(self.lab.built.programs["argocd"]), *arguments], environment
        )

    def _kubeconfig(self, role: str) -> Path:
        """Write the kubeconfig of an account in Argo CD's namespace; return its path."""
        config = json.loads(self.lab.kubeconfig.read_text(encoding="utf-8"))
        config["users"][0]["user"] = {"token": self._token(role)}
        config["contexts"][0]["context"]["namespace"] = self.namespace
        path = self.folder / f"{role}.kubeconfig"
        path.write_text(json.dumps(config), encoding="utf-8")
        return path


def checks_by_key(fragment: Body) -> dict[str, str]:
    """Return health checks as keys of ``argocd-cm``, as OpenShift's operator writes them."""
    if "data" in fragment:
        return dict(fragment["data"])
    checks = fragment["spec"]["resourceHealthChecks"]
    found = {}
    for check in checks:
        name = f"{check['group']}_{check['kind']}".removeprefix("_")
        found[f"{_HEALTH}.{name}"] = check["check"]
    return found
