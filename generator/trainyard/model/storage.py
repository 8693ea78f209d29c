"""Storage that a cluster offers, and a team's claims, volumes and secrets of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.quantity import format_bytes
from trainyard.model.team import StorageRequest

CLAIMS: Final = "requests.storage"
"""Key of the bytes of all claims in a ResourceQuota."""

MOST_GROWTH: Final = 10
"""How many times as large one merge may make a claim.

Argo CD compares by a dry run, which the quota on the cluster refuses, although the same merge
raises it: so the quota has this room beforehand.
"""


@dataclass(frozen=True, slots=True)
class Storage:
    """A kind of storage that teams may ask for.

    Args:
        kind: ``nfs``, ``class``, ``s3`` or ``adopted`` (a claim that exists already).
        server, path: of an NFS export; ``path`` is also where an S3 secret lies in its store.
        connections: of each node to the NFS server.
        storage_class: of ``class`` and ``adopted``.
        endpoint, secret_store: of ``s3``.
        encrypted: whether what lies there is encrypted at rest.
    """

    name: str
    at: Pointer
    kind: str
    server: str = ""
    path: str = ""
    connections: int = 1
    storage_class: str = ""
    endpoint: str = ""
    secret_store: str = ""
    encrypted: bool = False

    @property
    def mount_options(self) -> tuple[str, ...]:
        """Options with which nodes mount the NFS export.

        The server decides on one connection how fast a node is, whatever its network.
        """
        several = (f"nconnect={self.connections}",) if self.connections > 1 else ()
        return ("nfsvers=4.1", "hard", *several)


@dataclass(frozen=True, slots=True)
class PullSecret:
    """An image pull secret, by reference into a secret store."""

    name: str
    at: Pointer
    secret_store: str
    path: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A PersistentVolumeClaim of a team, and the PersistentVolume behind it where we make one."""

    cluster: str
    team: str
    folder: str
    namespace: str
    storage: Storage
    request: StorageRequest

    @property
    def name(self) -> str:
        """Name of the claim."""
        return self.storage.name

    @property
    def size(self) -> str:
        """Canonical quantity."""
        return format_bytes(self.request.size)

    @property
    def mount_path(self) -> str:
        """Path at which the sample job mounts it."""
        return f"/mnt/{self.storage.name}"

    @property
    def volume(self) -> str:
        """Name of the PersistentVolume; empty where the class makes one."""
        if self.storage.kind == "nfs":
            return names.volume(self.cluster, self.namespace, self.storage.name)
        return self.request.volume

    @property
    def path(self) -> str:
        """The team's own folder of the NFS export."""
        return f"{self.storage.path}/{self.folder}"


@dataclass(frozen=True, slots=True)
class Allowance:
    """Storage that the admins of a namespace may claim, beside what its profile asks for.

    Args:
        size: bytes, in sum.
    """

    storage: Storage
    at: Pointer
    size: int


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A Secret that External Secrets makes from a store; Git never sees a value.

    Args:
        kind: ``s3`` or ``pull``.
        key: where it lies in the store.
    """

    name: str
    namespace: str
    kind: str
    store: str
    key: str
    endpoint: str = ""
    bucket: str = ""

    @property
    def mount_path(self) -> str:
        """Path at which ranks read it as files: sshd drops a container's environment."""
        return f"/var/run/secrets/trainyard/{self.name}"


def pull_secret(tenant_namespace: str, secret: PullSecret) -> StoredSecret:
    """Return the image pull secret of a namespace."""
    return StoredSecret(secret.name, tenant_namespace, "pull", secret.secret_store, secret.path)


def bucket_secret(
    folder: str, namespace: str, request: StorageRequest, storage: Storage
) -> StoredSecret:
    """Return the S3 connection of a team in one of its namespaces.

    Args:
        folder: of the team in the secret store.
        namespace: that the connection is in.
        request: has the bucket.
        storage: of kind ``s3``.
    """
    return StoredSecret(
        name=storage.name,
        namespace=namespace,
        kind="s3",
        store=storage.secret_store,
        key=f"{storage.path}/{folder}/{storage.name}",
        endpoint=storage.endpoint,
        bucket=request.bucket,
    )


def claims_of(storage_class: str) -> str:
    """Return the key of the bytes of all claims of a class in a ResourceQuota."""
    return f"{storage_class}.storageclass.storage.k8s.io/{CLAIMS}"
