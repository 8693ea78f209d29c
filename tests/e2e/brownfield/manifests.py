"""What a site runs, as its files have it."""

from __future__ import annotations

from pathlib import Path

from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane.api import Body

SITE = Path(__file__).parent / "site"
RUNNING = ("Job/vision/pretrain", "JobSet/nlp/align", "TrainJob/speech/asr")
"""Jobs of two pods that take all of a queue's GPUs."""
WAITING = ("Job/vision-dev/tune", "Job/translation/bleu", "TrainJob/speech/tts")
"""Jobs that wait for these to end."""


def bodies(name: str) -> list[Body]:
    """Return the objects of a file of the site."""
    found = parse_manifests((SITE / f"{name}.yaml").read_text("utf-8"))
    return [body for body in found if isinstance(body, dict)]


def named(body: Body) -> str:
    """Return an object as ``Kind/namespace/name``."""
    metadata = body["metadata"]
    parts = (body["kind"], metadata.get("namespace"), metadata["name"])
    return "/".join(part for part in parts if part)
