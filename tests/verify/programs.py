"""Fakes for the real programs."""

from __future__ import annotations

from pathlib import Path


def program(folder: Path, name: str, script: str) -> Path:
    """Write an executable shell script and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path
