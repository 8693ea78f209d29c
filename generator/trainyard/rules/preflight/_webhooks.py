"""Webhooks that the API server asks about what teams create."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.model.facts import Resource, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mapping, mappings, text, texts
from trainyard.model.selector import selects

_CREATED = frozenset({"*", "CREATE"})


class Webhook(NamedTuple):
    """A webhook.

    Args:
        display: its configuration and its name.
        service: namespace and name of what answers; empty for an address outside.
    """

    display: str
    service: tuple[str, str]
    body: dict[str, Any]

    def takes(self, plural: str, labels: dict[str, str]) -> bool:
        """Return whether it is asked when an object of a kind is made in a namespace.

        An object that it asks for a label of is not meant: jobs of teams have none.

        Args:
            plural: of the kind, in the API's paths.
            labels: of the namespace.
        """
        asks_by_label = not selects(mapping(self.body, "objectSelector"), {})
        if asks_by_label or not selects(mapping(self.body, "namespaceSelector"), labels):
            return False
        return any(
            not _CREATED.isdisjoint(texts(rule, "operations"))
            and not {"*", "*/*", plural}.isdisjoint(texts(rule, "resources"))
            for rule in mappings(self.body, "rules")
        )


def webhooks(live: Live, resource: Resource) -> Iterator[Webhook]:
    """Yield the webhooks of all configurations of a kind."""
    for configuration in live.of(resource):
        for body in mappings(dict(configuration), "webhooks"):
            service = mapping(body, "clientConfig", "service")
            place = text(service, "namespace"), text(service, "name")
            display = f"{place_of(configuration)[1]} ({text(body, 'name')})"
            yield Webhook(display, place, body)


def team_namespaces(live: Live) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each namespace of a team with its labels, as the tree makes it."""
    for tenant in live.site.tenants:
        for name in tenant.namespaces:
            yield name, live.labels_of(name)
