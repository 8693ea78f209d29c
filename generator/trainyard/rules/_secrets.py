"""ExternalSecrets of hand-written components: what they read, and what is made of it."""

from __future__ import annotations

from trainyard.diagnostics import Step

Path = tuple[Step, ...]
