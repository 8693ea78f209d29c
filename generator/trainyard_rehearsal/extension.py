"""The command of the rehearsal, as Trainyard's command line finds it."""

from __future__ import annotations

from trainyard.cli.extension import Extension

EXTENSION = Extension(
    "Commands with control planes",
    {"rehearse": "Try the committed tree out on a real control plane."},
    {"rehearse": "trainyard_rehearsal.command"},
    {"rehearse": ("httpx", "cryptography")},
)
