"""A network for the pods of one test: a bridge, and a network namespace for each pod."""

from __future__ import annotations

import subprocess
from pathlib import Path


class ForbiddenError(Exception):
    """This machine does not let the tests create namespaces."""


class Network:
    """A bridge in its own network namespace; all pods end with it, even if the tests are killed."""

    def __init__(self) -> None:
        keep = "mount -t tmpfs tmpfs /run && mkdir /run/netns && echo ready && exec sleep infinity"
        new = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        command = ["setpriv", "--pdeathsig", "KILL", *new, "sh", "-c", keep]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout
        if self._process.stdout.readline() != "ready\n":
            assert self._process.stderr
            why = self._process.stderr.read()
            raise ForbiddenError(
                f"pods need root and namespaces (CAP_SYS_ADMIN, CAP_NET_ADMIN): {why}"
            )
        self._pods = 0
        try:
            self._run("ip", "link", "add", "pods", "type", "bridge")
            self._run("ip", "link", "set", "pods", "up")
        except BaseException:
            self.close()
            raise

    def inside(self, *command: str) -> list[str]:
        """Return a command that runs in the namespaces."""
        return [
            "nsenter",
            "--target",
            str(child(self._process.pid)),
            "--mount",
            "--net",
            "--pid",
            *command,
        ]

    def add(self, name: str) -> str:
        """Create a pod's network namespace and return its address."""
        self._pods += 1
        address, peer = f"10.255.0.{self._pods}", f"pod{self._pods}"
        self._run("ip", "netns", "add", name)
        self._run("ip", "link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", peer)
        self._run("ip", "link", "set", peer, "master", "pods", "up")
        self._run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            self._run("ip", "-n", name, "link", "set", link, "up")
        return address

    def close(self) -> None:
        """End the namespaces, and every process in them."""
        self._process.kill()
        self._process.communicate()

    def _run(self, *command: str) -> None:
        done = subprocess.run(self.inside(*command), capture_output=True, text=True, check=False)
        if done.returncode:
            raise ForbiddenError(f"`{' '.join(command)}` failed: {done.stderr}")


def child(process: int) -> int:
    """Return the only child of a process.

    Raises:
        ProcessLookupError: one of both has ended.
    """
    try:
        return int(Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        raise ProcessLookupError(process) from None
