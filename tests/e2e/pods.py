"""Containers of pods in Linux namespaces, run as kubelet and a container runtime would."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.image import Image
from tests.e2e.network import Network, child

Template = Mapping[str, Any]

_OPENSHIFT = {"runAsUser": 1000680000, "runAsGroup": 0, "fsGroup": 1000680000}
"""Ids that SCC restricted-v2 gives a pod without ids: the first of its namespace's range."""

_START = r"""
set -eu
folder=$1 lower=$2 hostname=$3 mounts=$4
shift 4
hostname "$hostname"
root=$folder/root
mount -t overlay -o "lowerdir=$lower,upperdir=$folder/upper,workdir=$folder/work" overlay "$root"
mount -t proc proc "$root/proc"
mount --bind /sys "$root/sys"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm"
while read -r source target; do
  if [ -d "$source" ]; then mkdir -p "$root$target"; else touch "$root$target"; fi
  mount --bind "$source" "$root$target"
done < "$mounts"
exec chroot "$root" "$@"
"""


@dataclass(slots=True)
class Pod:
    """A pod: its init containers run one after the other, then its container runs.

    Args:
        name: of the pod, and its host name.
        folder: for its layers, volumes and log.
        environment: variables in addition to the template's.
        mounts: files and folders of this machine by path in the container.
    """

    network: Network
    image: Image
    template: Template
    name: str
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    mounts: dict[str, Path] = field(default_factory=dict)
    address: str = ""
    _process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        """Create its network namespace and its empty folders."""
        self.address = self.network.add(self.name)
        for folder in ("upper", "work", "root", "volumes"):
            (self.folder / folder).mkdir(parents=True)
        for volume in self.template["volumes"]:
            if "emptyDir" in volume:
                path = self._volume(volume["name"])
                path.mkdir()
                # As kubelet creates it: writable for all, with the group of the pod's volumes.
                os.chown(path, 0, self._ids["fsGroup"])
                path.chmod(0o2777)

    def start(self, command: Sequence[str] = ()) -> None:
        """Run the init containers to their ends and start the container.

        Args:
            command: in place of the template's, as Trainer puts a job's command.
        """
        for container in self.template.get("initContainers", ()):
            done = self._launched(container, container["command"])
            assert done.wait(60) == 0, self.log
        (container,) = self.template["containers"]
        self._process = self._launched(container, command or container["command"])

    @property
    def log(self) -> str:
        """Output of its containers."""
        return (self.folder / "log").read_text(encoding="utf-8")

    @property
    def code(self) -> int | None:
        """Exit code of the container as a shell reports it, None while it runs."""
        code = self._process.poll() if self._process else None
        return 128 - code if code and code < 0 else code

    @property
    def written(self) -> Path:
        """Folder of the files that its containers wrote outside of volumes."""
        return self.folder / "upper"

    def call(self, command: Sequence[str], seconds: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command in the running container, as `kubectl exec` and kubelet's hooks do."""
        (container,) = self.template["containers"]
        enter = [
            "nsenter",
            "--target",
            str(self._first),
            "--mount",
            "--net",
            "--pid",
            "--uts",
            "--ipc",
            "--root",
        ]
        enter += ["--wdns=/", *self._as_user(container)]
        return subprocess.run(
            [*enter, *command], capture_output=True, text=True, check=False, timeout=seconds
        )

    def probe(self, probe: str) -> bool:
        """Return whether a probe of the container succeeds; false before its process is there."""
        (container,) = self.template["containers"]
        port = container[probe]["tcpSocket"]["port"]
        try:
            done = self.call(["bash", "-c", f": < /dev/tcp/{self.address}/{port}"])
        except ProcessLookupError:
            return False
        return done.returncode == 0

    def delete(self) -> float:
        """End the pod as kubelet does when it is deleted; return how many seconds that took."""
        grace = float(self.template.get("terminationGracePeriodSeconds", 30))
        begin = time.monotonic()
        self._run_hook(grace)
        self.signal(signal.SIGTERM)
        # kubelet's minimum after a hook (pkg/kubelet/kuberuntime: minimumGracePeriodInSeconds).
        if not waited(lambda: self.code is not None, max(begin + grace - time.monotonic(), 2)):
            self.signal(signal.SIGKILL)
            assert waited(lambda: self.code is not None, 10)
        return time.monotonic() - begin

    def _run_hook(self, grace: float) -> None:
        """Run the container's `preStop` hook, if it has one and is still running."""
        (container,) = self.template["containers"]
        hook = container.get("lifecycle", {}).get("preStop")
        if not hook or self.code is not None:
            return
        with suppress(subprocess.TimeoutExpired):
            done = self.call(hook["exec"]["command"], grace)
            # A hook is killed when its container ends.
            assert done.returncode == 0 or waited(lambda: self.code is not None, 5), done

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to process 1 of the container."""
        with suppress(ProcessLookupError):
            os.kill(self._first, number)

    def kill(self) -> None:
        """Kill it at once."""
        if self._process:
            self.signal(signal.SIGKILL)
            self._process.wait()

    @property
    def _first(self) -> int:
        """Process 1 of the container, by its id on this machine."""
        assert self._process
        return child(child(self._process.pid))

    @property
    def _ids(self) -> Mapping[str, int]:
        return {
            key: self.template["securityContext"].get(key, value)
            for key, value in _OPENSHIFT.items()
        }

    def _as_user(self, container: Template) -> list[str]:
        """Return the start of a command in a container: user, no privileges, environment."""
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
        ids = self._ids
        user = [
            f"--reuid={ids['runAsUser']}",
            f"--regid={ids['runAsGroup']}",
            f"--groups={ids['fsGroup']}",
        ]
        stated = {
            each["name"]: each["value"].replace("$$", "$") for each in container.get("env", ())
        }
        environment = {"PATH": self.image.path, "HOSTNAME": self.name, **stated, **self.environment}
        pairs = [f"{name}={value}" for name, value in environment.items()]
        folder = container.get("workingDir", "/")
        return [
            "setpriv",
            *user,
            "--no-new-privs",
            "--bounding-set=-all",
            "--inh-caps=-all",
            "env",
            f"--chdir={folder}",
            "-i",
            *pairs,
        ]

    def _launched(self, container: Template, command: Sequence[str]) -> subprocess.Popen[bytes]:
        mounts = self.folder / f"mounts-{container['name']}"
        mounts.write_text(
            "".join(f"{source} {target}\n" for source, target in self._mounts(container)), "utf-8"
        )
        new = (
            "unshare",
            "--mount",
            "--pid",
            "--uts",
            "--ipc",
            "--fork",
            "--kill-child",
            "bash",
            "-c",
            _START,
            "start",
        )
        enter = self.network.inside("ip", "netns", "exec", self.name, *new)
        where = (str(self.folder), str(self.image.root), self.name, str(mounts))
        with (self.folder / "log").open("ab") as log:
            whole = [*enter, *where, *self._as_user(container), *command]
            return subprocess.Popen(
                whole, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )

    def _mounts(self, container: Template) -> list[tuple[Path, str]]:
        mounts = {
            each["mountPath"]: self._volume(each["name"]) / each.get("subPath", "")
            for each in container.get("volumeMounts", ())
        }
        return [(source, target) for target, source in sorted({**mounts, **self.mounts}.items())]

    def _volume(self, name: str) -> Path:
        return self.folder / "volumes" / name


def waited(ready: Callable[[], object], seconds: float) -> bool:
    """Wait for a condition; return whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not ready() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(ready())
