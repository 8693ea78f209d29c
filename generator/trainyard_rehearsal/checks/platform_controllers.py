"""Check that the controllers of a platform can do their work in namespaces of teams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from trainyard.model.release import Release
from trainyard.model.space import Space
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.checks.jobs import as_account
from trainyard_rehearsal.checks.new_roles import wait_until_permitted
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally
from trainyard_rehearsal.checks.variants import with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

TABLE = Path(__file__).with_name("platform-controllers.yaml")
_RBAC = "rbac.authorization.k8s.io"
_CLAIM = "PersistentVolumeClaim"
_SERVICE_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class PlatformController:
    """A row of the table; its fields are explained there."""

    controller: str
    source: str
    account: str
    requests: Sequence[Body]
    feature: str = ""
    rules: Sequence[Body] = ()
    existing: Sequence[Body] = ()

    def account_in(self, space: Space) -> str:
        """Return its account; some run one in each namespace."""
        return self.account.replace("NAMESPACE", space.namespace)


def platform_controllers(release: Release) -> list[PlatformController]:
    """Return the controllers of a release's platforms."""
    rows: list[Any] = parse_manifests(TABLE.read_text(encoding="utf-8"))
    found = [PlatformController(**row) for row in rows]
    return [each for each in found if each.feature in {"", *release.features}]


def check_platform_controllers(lab: Lab, spaces: Sequence[Space]) -> Iterator[Outcome]:
    """Send each controller's requests as the controller, in namespaces of teams.

    Args:
        lab: with the tree applied.
        spaces: the namespaces.
    """
    harmless, hostile = RequestTally(), RequestTally()
    for platform_controller in platform_controllers(lab.plan.site.cluster.release):
        for space in spaces:
            with _prepared(lab, platform_controller, space):
                cases = list(_cases(lab.api, platform_controller, space))
                harmless.send(each for each in cases if not each.refusal)
                hostile.send(each for each in cases if each.refusal)
    yield harmless.outcome("platform's controllers let through")
    yield hostile.outcome("tenants' wishes refused to controllers")


def _cases(api: Api, controller: PlatformController, space: Space) -> Iterator[RequestCase]:
    sender = _sender(api, controller.account_in(space))
    for request in controller.requests:
        if body := _named(request["object"], space):
            send = partial(_send, api, sender, {**request, "object": body})
            display = f"{controller.controller}: {request['does']} in {space.namespace}"
            yield RequestCase(display, send, space.team.at, request.get("refusal", ""))


def _sender(api: Api, account: str) -> Api:
    if account.startswith(_SERVICE_ACCOUNT):
        return as_account(api, account)
    return api.acting(account, ["system:authenticated"])


def _named(body: Body, space: Space) -> Body:
    """Return an object of a namespace; empty if that has no such object."""
    metadata = {"namespace": space.namespace, **body.get("metadata", {})}
    if body["kind"] == "Namespace":
        metadata = {"name": space.namespace}
    elif body["kind"] == _CLAIM and "name" not in metadata:
        if not space.claims:
            return {}
        metadata["name"] = space.claims[0].name
    elif body["kind"] == _CLAIM:
        return _new_claim(body, metadata, space)
    if subjects := body.get("subjects"):
        body = {**body, "subjects": [_in_namespace(each, space) for each in subjects]}
    return {**body, "metadata": metadata}


def _in_namespace(subject: Body, space: Space) -> Body:
    """Return a subject whose namespace may be the team's."""
    return {key: value.replace("NAMESPACE", space.namespace) for key, value in subject.items()}


def _new_claim(body: Body, metadata: Body, space: Space) -> Body:
    """Return a claim of a class that the team's quota has room for; empty if there is none."""
    if not space.claimable_classes:
        return {}
    spec = {**body["spec"], "storageClassName": space.claimable_classes[0]}
    return {**body, "metadata": metadata, "spec": spec}


def _send(api: Api, sender: Api, request: Body) -> None:
    """Send a request as a dry run; an update replaces the object that is there now.

    Raises:
        Refused: by authorization, admission or validation.
    """
    body = request["object"]
    match request["verb"]:
        case "create":
            sender.create(body, dry_run=True)
        case "update":
            metadata = body["metadata"]
            place = (metadata["name"], metadata.get("namespace", ""))
            now = api.get(body["apiVersion"], body["kind"], *place)
            sender.update(with_change(now, request["change"]), dry_run=True)
        case _:
            sender.patch(body, request["change"], dry_run=True)


@contextmanager
def _prepared(lab: Lab, controller: PlatformController, space: Space) -> Iterator[None]:
    """Create what a controller finds, and bind its account to a role with its rules."""
    bodies = [_named(body, space) for body in controller.existing]
    bodies += _roles(controller, controller.account_in(space))
    for body in bodies:
        lab.api.apply(body)
    if controller.rules:
        rule = controller.rules[0]
        sender = _sender(lab.api, controller.account_in(space))
        verb, resource = rule["verbs"][0], rule["resources"][0]
        wait_until_permitted(lab, sender, verb, resource, space.namespace)
    try:
        yield
    finally:
        for body in bodies:
            lab.api.delete(body)


def _roles(controller: PlatformController, account: str) -> Iterator[Body]:
    if not controller.rules:
        return
    version, metadata = f"{_RBAC}/v1", {"name": "rehearsal-platform-controller"}
    rules = list(controller.rules)
    yield {"apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": rules}
    yield {
        "apiVersion": version,
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": metadata["name"]},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": account}],
    }
