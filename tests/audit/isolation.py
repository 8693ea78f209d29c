"""What keeps teams apart: names, partitions, addresses, network paths."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations
from typing import Any

from tests.audit.tree import Document, Tree, strings

GLOBAL_NETWORK_NAMESPACES = {
    "default",
    "openshift-cnv",
    "openshift-multus",
    "openshift-sriov-network-operator",
}
"""Multus resolves networks of these from every namespace."""

_NAME = "kubernetes.io/metadata.name"


def _networks(tree: Tree) -> list[tuple[Document, dict[str, Any]]]:
    return [
        (each, json.loads(each.spec["config"])) for each in tree.of("NetworkAttachmentDefinition")
    ]


def _vlans(tree: Tree) -> Iterator[tuple[Document, str, str]]:
    """Yield what the SR-IOV operator makes networks of, with its fabric and team."""
    for document in tree.of("SriovNetwork"):
        fabric = str(document.spec["resourceName"]).rpartition("_rail_")[0].replace("_", "-")
        yield document, fabric, tree.owner(document.spec["networkNamespace"])


def no_team_names_another(tree: Tree) -> Iterator[str]:
    """Not by namespace, volume, secret key, address or label: no string of a team holds another's
    name."""
    for document in tree.documents:
        team = tree.team_of(document)
        for other in sorted(set(tree.teams) - {team}) if team else ():
            word = re.compile(rf"(?<![a-z0-9]){re.escape(other)}(?![a-z0-9])")
            for where, text in strings(document.body):
                if word.search(text):
                    yield f"{document.path}: {where} names team {other}"


def partitions_are_each_teams_own(tree: Tree) -> Iterator[str]:
    held: dict[str, set[str]] = {}
    for document, config in _networks(tree):
        team = tree.owner(document.namespace)
        held.setdefault(str(config["pkey"]), set()).add(team)
        if config["pkey"] != _fabric(tree, document).get(team, {}).get("partition"):
            yield f"{document.path}: partition {config['pkey']} is not the one allocated"
    for document, fabric, team in _vlans(tree):
        held.setdefault(str(document.spec["vlan"]), set()).add(team)
        if document.spec["vlan"] != tree.allocations[fabric][team]["vlan"]:
            yield f"{document.path}: VLAN {document.spec['vlan']} is not the one allocated"
        if document.name.rpartition(f"-{fabric}-rail-")[0] != document.spec["networkNamespace"]:
            yield f"{document.path}: its name may be another namespace's"
    for segment, teams in sorted(held.items()):
        if len(teams) > 1:
            yield f"{segment} is shared by {sorted(teams)}"


def _fabric(tree: Tree, network: Document) -> dict[str, Any]:
    return dict(tree.allocations[network.name.rpartition("-rail-")[0]])


def addresses_are_disjoint(tree: Tree) -> Iterator[str]:
    ranges = [*_attached(tree), *_pooled(tree)]
    for (one, first, _), (other, second, _) in combinations(ranges, 2):
        if first.overlaps(second):
            yield f"{one.path} and {other.path} share addresses of {first}"
    for document, addresses, held in ranges:
        if not addresses.subnet_of(held):
            yield f"{document.path}: {addresses} is outside the team's block"
        for name, cidr in _ranges(tree).items():
            if addresses.overlaps(IPv4Network(cidr)):
                yield f"{document.path}: {addresses} overlaps the cluster's {name}"
    names = [config["ipam"]["network_name"] for _, config in _networks(tree)]
    yield from (
        f"IPAM pool {name} is shared"
        for name in sorted({name for name in names if names.count(name) > 1})
    )


def _attached(tree: Tree) -> Iterator[tuple[Document, IPv4Network, IPv4Network]]:
    """Yield each attachment with its range and the block of its team."""
    for document, config in _networks(tree):
        held = (
            _fabric(tree, document)
            .get(tree.owner(document.namespace), {})
            .get("addresses", "0.0.0.0/32")
        )
        yield document, IPv4Network(config["ipam"]["range"]), IPv4Network(held)


def _pooled(tree: Tree) -> Iterator[tuple[Document, IPv4Network, IPv4Network]]:
    """Yield each pool of addresses with its range and the block of its team."""
    for document in tree.of("IPPool"):
        team = tree.team_of(document)
        fabric = document.name.rpartition("-rail-")[0].removeprefix(f"{team}-")
        held = tree.allocations[fabric][team]["addresses"]
        yield document, IPv4Network(document.spec["subnet"]), IPv4Network(held)


def _ranges(tree: Tree) -> dict[str, str]:
    return {name: cidr for name, cidr in tree.cluster["networks"].items() if isinstance(cidr, str)}


def networks_stand_in_teams_namespaces(tree: Tree) -> Iterator[str]:
    for document, config in _networks(tree):
        if document.namespace in GLOBAL_NETWORK_NAMESPACES or not tree.owner(document.namespace):
            yield f"{document.path}: a network in {document.namespace or 'no namespace'}"
        if not config.get("rdmaIsolation") or not config.get("ibKubernetesEnabled"):
            yield f"{document.path}: its partition is not enforced"


def volumes_are_each_teams_own(tree: Tree) -> Iterator[str]:
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for volume in tree.of("PersistentVolume"):
        team, nfs = tree.team_of(volume), volume.spec["nfs"]
        if volume.spec["claimRef"]["namespace"] not in tree.namespaces(team):
            yield f"{volume.path}: kept for {volume.spec['claimRef']['namespace']}"
        if not nfs["path"].endswith(f"/{team}") or ".." in nfs["path"]:
            yield f"{volume.path}: exports {nfs['path']}"
        place = (nfs["server"], nfs["path"])
        owner, path = seen.setdefault(place, (team, volume.path))
        if owner != team:
            yield f"{volume.path}: the same export as {path}"
        if volume.spec["persistentVolumeReclaimPolicy"] != "Retain":
            yield f"{volume.path}: not retained"


def every_team_is_denied_by_default(tree: Tree) -> Iterator[str]:
    for namespace in (namespace for team in tree.teams for namespace in tree.namespaces(team)):
        policies = [each for each in tree.of("NetworkPolicy") if each.namespace == namespace]
        denials = [each for each in policies if each.name == "default-deny"]
        if len(denials) != 1:
            yield f"{namespace}: {len(denials)} default-deny policies"
        for denial in denials:
            spec = denial.spec
            if spec["podSelector"] != {} or set(spec["policyTypes"]) != {"Egress", "Ingress"}:
                yield f"{denial.path}: does not deny all pods both ways"
            for peer in [
                *_peers(spec.get("ingress"), "from"),
                *_peers(spec.get("egress"), "to"),
            ] or [{}]:
                if not _never(peer):
                    yield (
                        f"{denial.path}: a rule that matches somebody, or none (its drift is "
                        "never reverted)"
                    )


def _peers(rules: Any, field: str) -> list[dict[str, Any]]:
    return [peer for rule in rules or [{}] for peer in rule.get(field) or [{}]]


def _never(peer: dict[str, Any]) -> bool:
    expressions = peer.get("podSelector", {}).get("matchExpressions", [])
    has = {each["key"] for each in expressions if each["operator"] in {"In", "Exists"}}
    lacks = {each["key"] for each in expressions if each["operator"] == "DoesNotExist"}
    return bool(has & lacks) and set(peer) == {"podSelector"}


def no_network_path_between_teams(tree: Tree) -> Iterator[str]:
    """Every peer is a pod of the own namespace, a namespace that is no team's, or an address
    outside the cluster."""
    inside = [IPv4Network(tree.cluster["networks"][name]) for name in ("pods", "services")]
    for policy in tree.of("NetworkPolicy"):
        for peer in [
            *_present(policy.spec, "ingress", "from"),
            *_present(policy.spec, "egress", "to"),
        ]:
            if not peer:
                yield f"{policy.path}: a rule for everybody"
            if "ipBlock" in peer and any(
                IPv4Network(peer["ipBlock"]["cidr"]).overlaps(each) for each in inside
            ):
                yield f"{policy.path}: addresses inside the cluster"
            if "namespaceSelector" in peer and not _outside(peer["namespaceSelector"], tree):
                yield f"{policy.path}: a selector that can take a team's namespace"


def _present(spec: dict[str, Any], direction: str, field: str) -> list[dict[str, Any]]:
    return _peers(spec[direction], field) if spec.get(direction) else []


def _outside(selector: dict[str, Any], tree: Tree) -> bool:
    named = [selector.get("matchLabels", {}).get(_NAME, "")] * (
        _NAME in selector.get("matchLabels", {})
    )
    for each in selector.get("matchExpressions", ()):
        named += each["values"] if each["key"] == _NAME and each["operator"] == "In" else []
    return bool(named) and not any(map(tree.owner, named))


def queues_and_policies_take_one_namespace(tree: Tree) -> Iterator[str]:
    for document in tree.of("ClusterQueue", "ValidatingAdmissionPolicyBinding"):
        if not (team := tree.team_of(document)):
            continue
        spec = document.spec
        selector = spec.get("matchResources", spec)["namespaceSelector"]
        by_name = [{"matchLabels": {_NAME: namespace}} for namespace in tree.namespaces(team)]
        by_list = {
            "matchExpressions": [{"key": _NAME, "operator": "In", "values": tree.namespaces(team)}]
        }
        if selector not in (*by_name, by_list):
            yield f"{document.path}: takes other namespaces than team-{team}"


def every_team_is_held_to_its_limits(tree: Tree) -> Iterator[str]:
    bindings = tree.of("ValidatingAdmissionPolicyBinding")
    for team in tree.teams:
        own = [each for each in bindings if tree.team_of(each) == team]
        names = sorted(each.spec["policyName"] for each in own)
        if names != sorted(
            ["trainyard-trainjob-help", "trainyard-trainjob-limits"] * len(tree.namespaces(team))
        ):
            yield f"team {team} has no limits on its jobs"
    for binding in bindings:
        without = binding.spec.get("paramRef", {"parameterNotFoundAction": "Deny"})[
            "parameterNotFoundAction"
        ]
        if binding.spec["validationActions"] != ["Deny"] or without != "Deny":
            yield f"{binding.path}: lets through what it should refuse"


def only_trainer_writes_what_it_builds_jobs_from(tree: Tree) -> Iterator[str]:
    """Trainer 2.3 takes a job's pods from a ConfigMap in its namespace, where teams write
    ConfigMaps."""
    (policy,) = (
        each
        for each in tree.of("ValidatingAdmissionPolicy")
        if each.name == "trainyard-tenant-objects"
    )
    rules = policy.spec["matchConstraints"]["resourceRules"]
    seen = {
        each for rule in rules if "configmaps" in rule["resources"] for each in rule["operations"]
    }
    if seen != {"CREATE", "DELETE", "UPDATE"}:
        yield f"{policy.path}: does not see every write"
    bindings = [
        each
        for each in tree.of("ValidatingAdmissionPolicyBinding")
        if each.spec["policyName"] == policy.name
    ]
    every_team = {"matchExpressions": [{"key": f"{tree.domain}/team", "operator": "Exists"}]}
    if [each.spec["matchResources"]["namespaceSelector"] for each in bindings] != [every_team]:
        yield f"{policy.path}: is not bound to every team"


def namespaces_are_restricted(tree: Tree) -> Iterator[str]:
    for namespace in tree.of("Namespace"):
        labels = namespace.body["metadata"]["labels"]
        if {
            labels.get(f"pod-security.kubernetes.io/{mode}")
            for mode in ("audit", "enforce", "warn")
        } != {"restricted"}:
            yield f"{namespace.path}: pods are not held to the restricted level"
        managed = (
            labels.get("kueue.openshift.io/managed") == "true"
            if tree.openshift
            else f"{tree.domain}/team" in labels
        )
        if tree.team_of(namespace) and not managed:
            yield f"{namespace.path}: Kueue does not look at it"


AUDITS = (
    no_team_names_another,
    partitions_are_each_teams_own,
    addresses_are_disjoint,
    networks_stand_in_teams_namespaces,
    volumes_are_each_teams_own,
    every_team_is_denied_by_default,
    no_network_path_between_teams,
    queues_and_policies_take_one_namespace,
    every_team_is_held_to_its_limits,
    only_trainer_writes_what_it_builds_jobs_from,
    namespaces_are_restricted,
)
