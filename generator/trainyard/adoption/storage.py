"""Draft the storage of a cluster and its teams from the claims in their namespaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trainyard.adoption.amounts import read_amount
from trainyard.adoption.model import Crew, Mark, Remark
from trainyard.adoption.wording import is_fit
from trainyard.model.facts import BOUND, Body, Facts, place_of
from trainyard.model.importable import CLAIMS
from trainyard.model.lookup import mapping, text, texts, value_at
from trainyard.model.names import ADOPTED_CLASS
from trainyard.model.quantity import format_bytes
from trainyard.model.readable import VOLUMES

_MANY = frozenset({"ReadWriteMany", "ReadOnlyMany"})
_MIB = 1 << 20
_SIZE = "spec.resources.requests.storage"
_MORE = ("selector", "volumeAttributesClassName")
"""Fields of a claim that the tree's lacks, and that can't be taken away. What a volume was filled
from can be: the API server puts it back, since it has two fields for it."""
_VOLUME = re.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""Names of volumes and classes, as in the schemas of teams and clusters."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """A claim with its volume, which the team gets under the same name.

    Args:
        namespace: that it is in.
        size: as a profile has it.
        policy: what becomes of the volume when the claim goes; empty where the dump lacks it.
        meets: storage class of the claim that is there, where it has the place of the tree's and
            nobody can change it; else empty.
        stays: whether the tree's claim is that one, unchanged: by its class, and no volume.
    """

    team: str
    claim: str
    namespace: str
    volume: str
    size: str
    policy: str
    meets: str
    stays: bool

    @property
    def at(self) -> str:
        """Its namespace and name."""
        return f"{self.namespace}/{self.claim}"


def adopted(crews: Sequence[Crew], facts: Facts) -> tuple[list[Adopted], list[Remark]]:
    """Return the claims that teams keep, and those that have no counterpart.

    Raises:
        TreeError: the size of a claim is not a quantity.
    """
    policies = {
        place_of(body)[1]: text(body, "spec", "persistentVolumeReclaimPolicy")
        for body in facts.of(VOLUMES)
    }
    kept, lost = [], []
    for crew in crews:
        for body in sorted(facts.of(CLAIMS), key=place_of):
            namespace, name = place_of(body)
            if namespace not in crew.namespaces:
                continue
            part = f"PersistentVolumeClaim {namespace}/{name}"
            if reason := _refusal(body, crew):
                lost.append(Remark(Mark.REFUSED, part, reason))
                continue
            volume = text(body, "spec", "volumeName")
            size = format_bytes(_bytes(body, part))
            policy, meets = policies.get(volume, ""), _met(body, crew)
            stays = _is_same(body, meets, part)
            kept.append(
                Adopted(crew.name, name, namespace, volume, size, policy, meets, stays=stays)
            )
    return _agreed(kept), lost


def _is_same(body: Body, meets: str, part: str) -> bool:
    """Return whether the API server takes the tree's claim for one that is there, unchanged."""
    modes, mode = texts(dict(body), "spec", "accessModes"), text(body, "spec", "volumeMode")
    size = read_amount("storage", value_at(dict(body), _SIZE) or "0", part)
    is_class = bool(meets) and text(body, "spec", "storageClassName") == meets
    is_filesystem = mode in {"", "Filesystem"}
    is_size = size == _bytes(body, part)
    fits = _VOLUME.fullmatch(meets) is not None
    is_same = is_class and fits and is_filesystem and is_size and not _loses(body)
    return is_same and modes == ("ReadWriteMany",)


def _loses(body: Body) -> bool:
    """Return whether the first sync may take a field away, so that all of it is refused.

    Argo CD takes over what `kubectl apply` wrote, and deletes what the tree lacks, such as the
    volume that somebody named (seen with Argo CD 3.5.7).
    """
    is_given = mapping(body, "metadata", "annotations").get(BOUND) != "yes"
    spec = mapping(body, "spec")
    more = [each for each in _MORE if spec.get(each)]
    return is_given or bool(more) or bool(mapping(spec, "resources", "limits"))


def _agreed(kept: Sequence[Adopted]) -> list[Adopted]:
    """Return claims of which those of one name all stay, or none: storage has one class."""
    found = []
    for each in kept:
        same = [other for other in kept if other.claim == each.claim]
        stays = all(other.stays and other.meets == each.meets for other in same)
        found.append(replace(each, stays=stays))
    return found


def _met(body: Body, crew: Crew) -> str:
    """Return the class of a claim that stays where the tree's would be; empty where it may."""
    namespace, class_ = place_of(body)[0], text(body, "spec", "storageClassName") or "no class"
    return class_ if class_ != ADOPTED_CLASS and crew.kept(namespace) == namespace else ""


def _bytes(body: Body, part: str) -> int:
    """Return the size of a claim in whole Mi, rounded up; the volume has at least that."""
    size = value_at(dict(body), _SIZE) or "0"
    return max(-(-read_amount("storage", size, part) // _MIB), 1) * _MIB


def _refusal(body: Body, crew: Crew) -> str:
    """Return why a team can't have a claim; empty if it can."""
    namespace, name = place_of(body)
    modes = texts(dict(body), "spec", "accessModes")
    if _MANY.isdisjoint(modes):
        return f"{', '.join(modes) or 'no access mode'}: jobs of several nodes can't mount it"
    if not text(body, "spec", "volumeName"):
        return "it is bound to no volume"
    if not _VOLUME.fullmatch(text(body, "spec", "volumeName")):
        return "a profile can't name its volume: only lower-case letters, digits and hyphens"
    if not is_fit(name):
        return "no storage can have its name: copy the data, or rename the claim"
    if namespace != crew.namespaces[0]:
        return f"it is in {namespace}: adopt it for the space by hand"
    return ""


def remarks(kept: Sequence[Adopted]) -> Iterator[Remark]:
    """Yield which claims stay, and what to do before the volume of another has a new one."""
    for each in kept:
        if each.stays:
            why = f"team {each.team} keeps it as it is: {each.size} of class {each.meets}"
            yield Remark(Mark.KEPT, f"PersistentVolumeClaim {each.at}", why)
            continue
        policy = each.policy or "unknown"
        text_ = (
            f"team {each.team} gets volume {each.volume} of {each.size}; "
            f"its reclaim policy is {policy}, and must be Retain before the old claim goes"
        )
        yield Remark(Mark.CHANGED, f"PersistentVolumeClaim {each.claim}", text_)
