"""Isolation of teams: names, partitions, addresses, network paths."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations, product
from typing import Any

from tests.audit.tree import Document, Tree, strings

GLOBAL_NETWORK_NAMESPACES = {
    "default",
    "openshift-cnv",
    "openshift-multus",
    "openshift-sriov-network-operator",
}
"""Namespaces whose networks Multus resolves from every namespace."""

_NAME = "kubernetes.io/metadata.name"


def _networks(tree: Tree) -> list[tuple[Document, dict[str, Any]]]:
    return [
        (each, json.loads(each.spec["config"])) for each in tree.of("NetworkAttachmentDefinition")
    ]


def _vlans(tree: Tree) -> Iterator[tuple[Document, str, str]]:
    """Yield each SriovNetwork with its fabric and team."""
    for document in tree.of("SriovNetwork"):
        fabric = str(document.spec["resourceName"]).rpartition("_rail_")[0].replace("_", "-")
        yield document, fabric, tree.owner(document.spec["networkNamespace"])


def no_team_object_names_another_team(tree: Tree) -> Iterator[str]:
    """No namespace, volume, secret key, address or label of a team has another team's name."""
    for document in tree.documents:
        if team := tree.team_of(document):
            for other in sorted(set(tree.teams) - {team}):
                for where in _naming(document, other):
                    yield f"{document.path}: {where} names team {other}"


def _naming(document: Document, team: str) -> Iterator[str]:
    """Yield the path of each string of a document that names a team."""
    word = re.compile(rf"(?<![a-z0-9]){re.escape(team)}(?![a-z0-9])")
    for where, text in strings(document.body):
        if word.search(text):
            yield where


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
        for name in _overlapped(tree, addresses):
            yield f"{document.path}: {addresses} overlaps the cluster's {name}"
    yield from (f"IPAM pool {name} is shared" for name in _shared_names(tree))


def _overlapped(tree: Tree, addresses: IPv4Network) -> Iterator[str]:
    """Yield the names of the cluster's networks that share some addresses."""
    for name, cidr in tree.cluster["networks"].items():
        if isinstance(cidr, str) and addresses.overlaps(IPv4Network(cidr)):
            yield name


def _shared_names(tree: Tree) -> list[str]:
    """Return the names of IPAM pools that several networks have."""
    names = Counter(config["ipam"]["network_name"] for _, config in _networks(tree))
    return sorted(name for name, count in names.items() if count > 1)


def _attached(tree: Tree) -> Iterator[tuple[Document, IPv4Network, IPv4Network]]:
    """Yield each attachment with its range and the block of its team."""
    for document, config in _networks(tree):
        allocation = _fabric(tree, document).get(tree.owner(document.namespace), {})
        held = allocation.get("addresses", "0.0.0.0/32")
        yield document, IPv4Network(config["ipam"]["range"]), IPv4Network(held)


def _pooled(tree: Tree) -> Iterator[tuple[Document, IPv4Network, IPv4Network]]:
    """Yield each pool of addresses with its range and the block of its team."""
    for document in tree.of("IPPool"):
        team = tree.team_of(document)
        fabric = document.name.rpartition("-rail-")[0].removeprefix(f"{team}-")
        held = tree.allocations[fabric][team]["addresses"]
        yield document, IPv4Network(document.spec["subnet"]), IPv4Network(held)


def networks_are_in_team_namespaces(tree: Tree) -> Iterator[str]:
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
        owner, path = seen.setdefault((nfs["server"], nfs["path"]), (team, volume.path))
        if owner != team:
            yield f"{volume.path}: the same export as {path}"
        if volume.spec["persistentVolumeReclaimPolicy"] != "Retain":
            yield f"{volume.path}: not retained"


def _of_teams(tree: Tree) -> list[Document]:
    """Return the NetworkPolicies of teams; the platform's own namespace has the clean-up's."""
    namespaces = set(tree.all_namespaces())
    return [each for each in tree.of("NetworkPolicy") if each.namespace in namespaces]


def every_team_is_denied_by_default(tree: Tree) -> Iterator[str]:
    policies = _of_teams(tree)
    denials = [each for each in policies if each.name == "default-deny"]
    denied = Counter(each.namespace for each in denials)
    for namespace in tree.all_namespaces():
        if denied[namespace] != 1:
            yield f"{namespace}: {denied[namespace]} default-deny policies"
    for denial in denials:
        yield from (f"{denial.path}: {fault}" for fault in _denial_faults(denial.spec))


def _denial_faults(spec: dict[str, Any]) -> Iterator[str]:
    if spec["podSelector"] != {} or set(spec["policyTypes"]) != {"Egress", "Ingress"}:
        yield "does not deny all pods in both directions"
    peers = [*_peers(spec.get("ingress"), "from"), *_peers(spec.get("egress"), "to")]
    if not all(map(_matches_no_pod, peers)):
        yield "a rule that matches pods, or no rule (its drift is never reverted)"


def _peers(rules: Any, field: str) -> list[dict[str, Any]]:
    return [peer for rule in rules or [{}] for peer in rule.get(field) or [{}]]


def _matches_no_pod(peer: dict[str, Any]) -> bool:
    """Return whether a peer requires and excludes the same label."""
    expressions = peer.get("podSelector", {}).get("matchExpressions", [])
    has = {each["key"] for each in expressions if each["operator"] in {"In", "Exists"}}
    lacks = {each["key"] for each in expressions if each["operator"] == "DoesNotExist"}
    return bool(has & lacks) and set(peer) == {"podSelector"}


def no_network_path_between_teams(tree: Tree) -> Iterator[str]:
    """A peer is a pod of the same namespace, another than a team's, or outside the cluster."""
    inside = [IPv4Network(tree.cluster["networks"][name]) for name in ("pods", "services")]
    for policy in _of_teams(tree):
        spec = policy.spec
        for peer in [*_present(spec, "ingress", "from"), *_present(spec, "egress", "to")]:
            for fault in _peer_faults(peer, inside, tree):
                yield f"{policy.path}: {fault}"


def _peer_faults(peer: dict[str, Any], inside: list[IPv4Network], tree: Tree) -> Iterator[str]:
    if not peer:
        yield "a rule without peers"
    if "ipBlock" in peer and _overlaps(peer["ipBlock"]["cidr"], inside):
        yield "addresses inside the cluster"
    if "namespaceSelector" in peer and not _outside(peer["namespaceSelector"], tree):
        yield "a selector that can match a team's namespace"


def _overlaps(cidr: str, networks: list[IPv4Network]) -> bool:
    return any(IPv4Network(cidr).overlaps(each) for each in networks)


def _present(spec: dict[str, Any], direction: str, field: str) -> list[dict[str, Any]]:
    return _peers(spec[direction], field) if spec.get(direction) else []


def _outside(selector: dict[str, Any], tree: Tree) -> bool:
    """Return whether a selector names namespaces, and none of them is a team's."""
    labels = selector.get("matchLabels", {})
    named = [labels[_NAME]] if _NAME in labels else []
    for each in selector.get("matchExpressions", ()):
        if each["key"] == _NAME and each["operator"] == "In":
            named += each["values"]
    return bool(named) and not any(map(tree.owner, named))


def queues_and_policies_take_one_namespace(tree: Tree) -> Iterator[str]:
    for document in tree.of("ClusterQueue", "ValidatingAdmissionPolicyBinding"):
        if not (team := tree.team_of(document)):
            continue
        spec = document.spec
        selector = spec.get("matchResources", spec)["namespaceSelector"]
        by_name = [{"matchLabels": {_NAME: namespace}} for namespace in tree.namespaces(team)]
        expression = {"key": _NAME, "operator": "In", "values": tree.namespaces(team)}
        if selector not in (*by_name, {"matchExpressions": [expression]}):
            yield f"{document.path}: selects other namespaces than team-{team}"


def every_team_has_limits(tree: Tree) -> Iterator[str]:
    """Its jobs are limited in each namespace, and so are runtimes that its admins may write."""
    bindings = tree.of("ValidatingAdmissionPolicyBinding")
    for team, profile in tree.teams.items():
        policies = ["trainyard-trainjob-help", "trainyard-trainjob-limits"]
        if profile.get("ownRuntimes"):
            policies.append("trainyard-own-runtimes")
            yield from _unchecked_copies(tree, team)
        bound = sorted(
            (
                *each.spec["matchResources"]["namespaceSelector"].get("matchLabels", {}).values(),
                policy,
            )
            for each in bindings
            if tree.team_of(each) == team
            for policy in [each.spec["policyName"]]
        )
        if bound != sorted(product(tree.namespaces(team), policies)):
            yield f"team {team} has no limits on its jobs: {bound}"
    for binding in bindings:
        parameters = binding.spec.get("paramRef", {"parameterNotFoundAction": "Deny"})
        actions = [*binding.spec["validationActions"], parameters["parameterNotFoundAction"]]
        # Its parameter is a quota, which bounds the count without the policy, and comes later.
        counts = binding.spec["policyName"] == "trainyard-object-count"
        if actions != ["Deny", "Allow" if counts else "Deny"]:
            yield f"{binding.path}: does not deny"


def _unchecked_copies(tree: Tree, team: str) -> Iterator[str]:
    """Yield each runtime of a team whose copies are not compared with it, in every namespace."""
    everywhere = {"matchExpressions": [{"key": f"{tree.domain}/team", "operator": "Exists"}]}
    compared = set()
    for binding in tree.of("ValidatingAdmissionPolicyBinding"):
        if binding.spec["policyName"] == "trainyard-copies":
            match, base = binding.spec["matchResources"], binding.spec["paramRef"]["name"]
            copies = {"matchLabels": {f"{tree.domain}/copy-of": base}}
            if (match["objectSelector"], match["namespaceSelector"]) == (copies, everywhere):
                compared.add(base)
    number = str(tree.teams[team]["ownRuntimes"])
    for limits in tree.of("ConfigMap"):
        if tree.team_of(limits) == team and "runtimes" in limits.body["data"]:
            data = limits.body["data"]
            if data.get("ownRuntimes") != number:
                yield f"{limits.path}: its admins may write {data.get('ownRuntimes')} runtimes"
            for name in sorted(set(data["runtimes"].split()) - compared):
                yield f"{limits.path}: a copy of {name} may differ in everything"


def only_trainer_writes_what_it_builds_jobs_from(tree: Tree) -> Iterator[str]:
    """Trainer 2.3 reads a job's pods from a ConfigMap, in a namespace where teams write them."""
    policies = {each.name: each for each in tree.of("ValidatingAdmissionPolicy")}
    policy = policies["trainyard-sources"]
    operations = set()
    for rule in policy.spec["matchConstraints"]["resourceRules"]:
        if "configmaps" in rule["resources"]:
            operations.update(rule["operations"])
    if operations != {"CREATE", "DELETE", "UPDATE"}:
        yield f"{policy.path}: does not check every write"
    selectors = [
        each.spec["matchResources"]["namespaceSelector"]
        for each in tree.of("ValidatingAdmissionPolicyBinding")
        if each.spec["policyName"] == policy.name
    ]
    every_team = {"matchExpressions": [{"key": f"{tree.domain}/team", "operator": "Exists"}]}
    if selectors != [every_team]:
        yield f"{policy.path}: is not bound to every team"


def namespaces_are_restricted(tree: Tree) -> Iterator[str]:
    for namespace in tree.of("Namespace"):
        labels = namespace.body["metadata"]["labels"]
        modes = ("audit", "enforce", "warn")
        if {labels.get(f"pod-security.kubernetes.io/{mode}") for mode in modes} != {"restricted"}:
            yield f"{namespace.path}: its pods are not restricted"
        if tree.team_of(namespace) and not _is_managed(tree, labels):
            yield f"{namespace.path}: Kueue does not manage it"


def _is_managed(tree: Tree, labels: dict[str, str]) -> bool:
    """Return whether Kueue manages the jobs of a namespace with some labels."""
    if tree.openshift:
        return labels.get("kueue.openshift.io/managed") == "true"
    return f"{tree.domain}/team" in labels


AUDITS = (
    no_team_object_names_another_team,
    partitions_are_each_teams_own,
    addresses_are_disjoint,
    networks_are_in_team_namespaces,
    volumes_are_each_teams_own,
    every_team_is_denied_by_default,
    no_network_path_between_teams,
    queues_and_policies_take_one_namespace,
    every_team_has_limits,
    only_trainer_writes_what_it_builds_jobs_from,
    namespaces_are_restricted,
)
