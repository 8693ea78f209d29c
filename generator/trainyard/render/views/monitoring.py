"""Views of what is scraped."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model import names
from trainyard.model.monitoring import MetricSource


@dataclass(frozen=True, slots=True)
class MetricSourceView:
    """What has metrics, as templates read it."""

    source: MetricSource

    @property
    def monitor_name(self) -> str:
        """Name of the object that has it scraped."""
        return names.monitor(self.source.name)

    @property
    def namespaces(self) -> list[str]:
        """The namespace of its pods."""
        return [self.source.namespace]

    @property
    def is_encrypted(self) -> bool:
        """Return whether it serves its metrics over TLS."""
        scrape = self.source.scrape
        return scrape is not None and scrape.scheme == "https"
