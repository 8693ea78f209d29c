"""Views of how the lines of the teams' pods are kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.model import names
from trainyard.model.monitoring import Logs
from trainyard.model.platform import Site

CREDENTIALS = (
    r"\b(AKIA|ASIA)[A-Z2-7]{16}\b",
    r"\bgh[opsu]_[0-9A-Za-z]{36}",
    r"\bgithub_pat_\w{82}",
    r"\bglpat-[\w-]{20}",
    r"\bhf_[A-Za-z]{34}\b",
    r"\bnvapi-[\w-]{60,}",
    r"\bey[A-Za-z0-9]{17,}\.ey[A-Za-z0-9/_-]{17,}\.[A-Za-z0-9/_-]{10,}",
    r"-{5}BEGIN [A-Z ]{0,20}PRIVATE KEY-{5}",
)
"""Regular expressions of the tokens and keys that training programs use: of AWS, GitHub, GitLab,
Hugging Face and NVIDIA, JSON web tokens as Kubernetes gives them, private keys.

Those of gitleaks 8.30.1 and our own, without the look-around that the forwarder's engine lacks, and
with ``\\b`` where a word may end in it. Each tells a credential from prose by its own form.
"""


LINES_PER_SECOND = 1000
"""Lines of a container that the forwarder takes in a second.

The pods of all teams are one tenant of the store, of which Loki takes 4 MB in a second by default
(grafana/loki:pkg/validation/limits.go). A job of 16 nodes and a launcher stays below that with
lines of 200 bytes.
"""


@dataclass(frozen=True, slots=True)
class Period:
    """How long the lines of some namespaces are kept.

    Args:
        days: at least 1.
        namespaces: regular expression of their names.
        priority: of several periods that match a namespace, the one with the highest counts.
    """

    days: int
    namespaces: str
    priority: int

    @property
    def hours(self) -> str:
        """The period in Loki's form, which has no unit above hours that both its parsers read."""
        return f"{24 * self.days}h"


def periods(site: Site, logs: Logs) -> Iterator[Period]:
    """Yield the period of all teams, and each longer one that a regulation demands."""
    own = [f"{names.TEAM_PREFIX}.+", *site.cluster.named_namespaces]
    yield Period(logs.keep, "|".join(own), 1)
    longer: dict[int, list[str]] = defaultdict(list)
    for tenant in site.tenants:
        if (kept := tenant.days_of_logs) > logs.keep:
            longer[kept].extend(tenant.namespaces)
    for kept, namespaces in sorted(longer.items()):
        yield Period(kept, "|".join(sorted(namespaces)), 2)


@dataclass(frozen=True, slots=True)
class LogsView:
    """How lines are kept, as templates read it."""

    logs: Logs

    @property
    def lines_per_second(self) -> int:
        """Lines of a container that the forwarder takes in a second; it drops the others."""
        return LINES_PER_SECOND

    @property
    def dropped(self) -> list[dict[str, object]]:
        """A test of the forwarder for each form of credential."""
        return [
            {"test": [{"field": ".message", "matches": credential}]} for credential in CREDENTIALS
        ]
