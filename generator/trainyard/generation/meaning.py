"""Ask the rules what a platform means; families that found nothing in it before are not asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import chain

from trainyard.diagnostics import Diagnostic
from trainyard.model.platform import Platform
from trainyard.proofs import UNKNOWN, Proofs, proof
from trainyard.rules._check import DatedCheck
from trainyard.rules.check import FAMILIES, check_family
from trainyard.yaml_io.source import Profiles


def found_in(
    platform: Platform, profiles: Profiles, today: str, proofs: Proofs, *, complete: bool
) -> Iterator[Diagnostic]:
    """Yield the findings of all rules.

    Args:
        platform: as `check_meaning` takes it.
        profiles: that it was resolved from.
        today: as `check_meaning` takes it.
        proofs: of earlier commands.
        complete: whether these are all profiles, without an error; if not, nothing is recalled.
    """
    proofs = proofs if complete else UNKNOWN
    content = _content(profiles)
    silent = {family: _silent(family, content, today) for family in FAMILIES}
    asked = [family for family in FAMILIES if silent[family] not in proofs]
    found = {family: check_family(family, platform, today) for family in asked}
    proofs.keep(silent[family] for family in asked if not found[family])
    # A mistake in a team's profile is found on each of its clusters, and reported once.
    yield from dict.fromkeys(chain.from_iterable(found.values()))


def _silent(family: str, content: bytes, today: str) -> str:
    """Return the proof that the rules of a family find nothing in profiles with some content."""
    day = today if any(isinstance(check, DatedCheck) for check in FAMILIES[family]) else ""
    return proof(b"silent", family.encode(), content, day.encode())


def _content(profiles: Profiles) -> bytes:
    """Return the digest of all that a platform is resolved from."""
    digest = hashlib.sha256()
    for file, source in sorted(profiles.sources().items()):
        digest.update(f"{len(file)} {file} {len(source.content)} ".encode())
        digest.update(source.content)
    return digest.digest()
