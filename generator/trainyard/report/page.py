"""The page: its head, its style and script with their digests, and its sections."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import htpy
from htpy import a, body, footer, head, html, li, main, meta, nav, script, style, ul
from markupsafe import Markup

from trainyard.report.capacity import capacity
from trainyard.report.change import change
from trainyard.report.content import Content
from trainyard.report.coverage import coverage
from trainyard.report.findings import findings
from trainyard.report.network import network
from trainyard.report.teams import teams
from trainyard.report.topology import topology
from trainyard.report.verdict import verdict

_HERE = Path(__file__).parent
_SECTIONS = {
    "change": ("Change", change),
    "findings": ("Findings", findings),
    "capacity": ("Capacity", capacity),
    "teams": ("Teams", teams),
    "topology": ("Topology", topology),
    "network": ("Network", network),
    "coverage": ("Checked", coverage),
}
"""Anchor -> word in the navigation, and the function that returns the section."""


def page(content: Content) -> bytes:
    """Return a complete page that loads nothing.

    The policy in its head permits this style and this script alone, by their digests.
    """
    css, script_text = _shipped("report.css"), _shipped("report.js")
    shown = {
        name: (word, section) for name, (word, section) in _SECTIONS.items() if _has(content, name)
    }
    document = html(lang="en")[
        head[
            meta(charset="utf-8"),
            meta(http_equiv="Content-Security-Policy", content=_policy(css, script_text)),
            meta(name="viewport", content="width=device-width, initial-scale=1"),
            meta(name="color-scheme", content="light dark"),
            meta(name="generator", content=f"Trainyard {content.version}"),
            htpy.title[f"Trainyard report of {content.title}"],
            style[Markup(css)],  # noqa: S704 - shipped with the package
        ],
        body[
            a(".skip", href="#main")["Skip to the content"],
            verdict(content),
            nav(aria_label="Sections")[
                ul[(li[a(href=f"#{name}")[word]] for name, (word, _) in shown.items())]
            ],
            main("#main", tabindex="-1")[[section(content) for _, section in shown.values()]],
            footer[
                f"Written by Trainyard {content.version} from the profiles; the same profiles give "
                "the same page."
            ],
            script[Markup(script_text)],  # noqa: S704 - shipped with the package
        ],
    ]
    return f"{document}\n".encode()


def _has(content: Content, name: str) -> bool:
    """Return whether a page has a section: without a cluster only the findings, and the change."""
    if name == "change":
        return content.change is not None
    return bool(content.clusters) or name == "findings"


def _shipped(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _policy(css: str, script_text: str) -> str:
    """Return the policy (CSP Level 3: the digest is over the exact bytes between the tags)."""
    return (
        f"default-src 'none'; script-src 'sha256-{_digest(script_text)}'; "
        f"style-src 'sha256-{_digest(css)}'; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
