"""The page: complete, closed to everything from elsewhere, and the same whatever its texts say."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trainyard.report.page as module
from tests.bench.platform import write_platform
from tests.conftest import REPOSITORY
from tests.report.pages import CHANGE, FINDING, WAIVER, Page, content, parse
from trainyard.capacity.measure import measure
from trainyard.change.impact.objects import number_synced
from trainyard.generation.generate import generate
from trainyard.report.content import Cluster, Content, Group
from trainyard.report.page import page

CSS = Path(module.__file__).with_name("report.css").read_text("utf-8")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style>",
    "&lt;",
    "`a`b`",
)


def test_same_platform_gives_the_same_bytes() -> None:
    assert page(content()) == page(content())


def test_page_loads_nothing_and_has_no_inline_style_or_handler() -> None:
    """What the policy would block is not there at all."""
    parsed = parse(page(content()))
    attributes = {key for tag in parsed.tags for key in tag.attributes}

    assert not {"src", "style", "srcset", "action"} & attributes
    assert not {key for key in attributes if key.startswith("on")}
    assert all(link.startswith("#") for link in parsed.values("href"))
    assert not {"link", "iframe", "object", "form", "base"} & {tag.name for tag in parsed.tags}


def test_policy_permits_exactly_the_style_and_script_of_the_page() -> None:
    """It comes before both, and its digests are over the bytes between the tags."""
    parsed = parse(page(content()))
    names = [tag.name for tag in parsed.tags]
    (policy,) = (
        tag for tag in parsed.tags if tag.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    (style,), (script,) = parsed.all("style"), parsed.all("script")

    assert parsed.tags.index(policy) < names.index("style") < names.index("script")
    assert policy.attributes["content"] == (
        f"default-src 'none'; script-src 'sha256-{_digest(script.text)}'; "
        f"style-src 'sha256-{_digest(style.text)}'; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_every_link_and_label_has_its_target() -> None:
    parsed = parse(page(content()))
    ids = list(parsed.values("id"))

    assert len(ids) == len(set(ids))
    assert {link.removeprefix("#") for link in parsed.values("href")} <= set(ids)
    assert set(parsed.values("aria-labelledby")) <= set(ids)


def test_every_table_has_a_caption_and_heads_with_a_scope() -> None:
    """A matrix is read by row and column, not by colour."""
    parsed = parse(page(content()))

    assert len(parsed.all("caption")) == len(parsed.all("table")) > 10
    assert {tag.attributes.get("scope") for tag in parsed.all("th")} == {"row", "col"}
    assert all(tag.text.strip() for tag in parsed.all("th") + parsed.all("caption"))


def test_every_picture_has_words() -> None:
    """Each bar has a name, and each part of it a title with its number."""
    parsed = parse(page(content()))
    pictures = [tag for tag in parsed.all("svg") if "svg" not in tag.parents]
    segments = [tag for tag in parsed.all("svg") if "svg" in tag.parents]
    titles = [tag.text for tag in parsed.all("title") if "svg" in tag.parents]

    assert all(tag.attributes["role"] == "img" and tag.attributes["aria-label"] for tag in pictures)
    assert len(titles) == len(segments) > len(pictures)
    assert "nlp: 8 nodes, lends 8 nodes" in titles
    assert "speech: 6 of 8 GPUs of a node" in titles


def test_page_shows_every_team_namespace_pool_and_object() -> None:
    parsed = parse(page(content()))
    (main,) = parsed.all("main")
    for cluster in content().clusters:
        for tenant in cluster.site.tenants:
            assert tenant.name in main.text
            assert all(space.namespace in main.text for space in tenant.spaces)
        assert all(pool.name in main.text for pool in cluster.site.cluster.pools)
        assert all(manifest.path in main.text for manifest in cluster.manifests)
        assert all(name in main.text for name in cluster.site.cluster.external)


def test_team_has_the_largest_job_of_each_cluster() -> None:
    """Team nlp may submit 16 nodes, but has two on the other cluster."""
    parsed = parse(page(content()))
    rows = [tag.text for tag in parsed.all("tr") if "nlp-oncall@example.com" in tag.text]

    assert [
        row.startswith(start)
        for row, start in zip(
            rows,
            ("nlplabxe9680-h200: 2 nodes 162", "nlpprod-eastdgx-h100: 8 nodes 6416"),
            strict=True,
        )
    ] == [True, True]


def test_what_was_not_checked_is_said() -> None:
    """Without kustomize and kubeconform the page says so at its head and at each cluster."""
    parsed = parse(page(content()))
    (head,), (main,) = parsed.all("header"), parsed.all("main")
    reason = "kustomize and kubeconform did not look at"

    assert reason in head.text
    assert main.text.count(reason) == len(content().clusters)
    assert "CEL expressions are not evaluated" in main.text


@pytest.mark.parametrize(
    ("severities", "verdict"),
    [
        ((), "No errors, no warnings; 1 waiver"),
        (("warning",), "No errors, 1 warning; 1 waiver"),
        (("warning", "error", "error"), "2 errors: this platform can't be delivered"),
    ],
)
def test_verdict_comes_first(severities: tuple[str, ...], verdict: str) -> None:
    """Errors come before warnings, and are unfolded."""
    found = tuple(replace(FINDING, severity=each) for each in severities)
    parsed = parse(page(replace(content(), findings=found)))
    (head,) = parsed.all("h1")
    shown = [tag for tag in parsed.all("details") if "finding" in tag.attributes.get("class", "")]

    assert head.text == verdict
    assert [("error" in tag.attributes["class"]) for tag in shown] == sorted(
        (each == "error" for each in severities), reverse=True
    )
    assert all(("open" in tag.attributes) == ("error" in tag.attributes["class"]) for tag in shown)


def test_change_comes_before_the_findings() -> None:
    """Its worst effect is in the head, and each line has its mark in words and what explains it."""
    parsed = parse(page(replace(content(), change=CHANGE)))
    (head,) = parsed.all("header")
    items = [tag.text for tag in parsed.all("li") if "section" in tag.parents]
    sections = [tag.attributes["id"] for tag in parsed.all("section")]

    assert f"This change: {CHANGE.headline}" in head.text
    assert sections[:2] == ["change", "findings"]
    assert "disturbsdrains 3 nodesbecause: MTU of roce 9000 -> 4200" in items
    assert "addedteam-nlp: egress to 203.0.113.0/28" in items
    assert CHANGE.notes[0] in parsed.all("main")[0].text


def test_platform_with_errors_has_its_findings_alone() -> None:
    """Where nothing can be generated, no empty section looks checked."""
    parsed = parse(page(replace(content(), clusters=())))

    assert [tag.attributes["id"] for tag in parsed.all("section")] == ["findings"]
    assert "nothing was generated" in parsed.all("header")[0].text


def _shape(parsed: Page) -> list[tuple[str, tuple[str, ...]]]:
    return [(tag.name, tuple(tag.attributes)) for tag in parsed.tags]


def _hostile(text: str) -> Content:
    """Return a report of one cluster in which texts of people are replaced."""
    part = ("Quota", (f"~ {text}", f"  {text}"))
    return replace(
        content(),
        title=text,
        unverified=text,
        findings=(replace(FINDING, message=text, hint=text, places=(text,), notes=(text,)),),
        waivers=(replace(WAIVER, reason=text, owner=text),),
        clusters=tuple(_with_text(cluster, text) for cluster in content().clusters[1:]),
        change=replace(
            CHANGE, origin=text, headline=text, groups=(Group(text, (part,)),), notes=(text,)
        ),
    )


def _with_text(cluster: Cluster, text: str) -> Cluster:
    site = cluster.site
    tenants = tuple(
        replace(tenant, team=replace(tenant.team, contact=text)) for tenant in site.tenants
    )
    external = dict.fromkeys(site.cluster.external, text)
    changed = replace(site, tenants=tenants, cluster=replace(site.cluster, external=external))
    return replace(cluster, site=changed)


@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40)))
def test_no_text_changes_the_structure(text: str) -> None:
    """Text of people becomes text: the elements and their attributes are those of a plain word."""
    text = text.replace("`", "").replace("\x00", "")

    assert _shape(parse(page(_hostile(text or "x")))) == _plain_shape()


@cache
def _plain_shape() -> list[tuple[str, tuple[str, ...]]]:
    return _shape(parse(page(_hostile("word"))))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_it_is(text: str) -> None:
    parsed = parse(page(_hostile(text)))

    assert parsed.all("h1")[0].parents == ("html", "body", "header")
    assert text in next(tag.text for tag in parsed.all("p") if "kicker" in tag.attributes["class"])
    assert len(parsed.all("script")) == len(parsed.all("style")) == 1
    assert not parsed.all("img")


def _colours(theme: str) -> dict[str, str]:
    """Return the colours of a theme by name; the dark one comes second."""
    themes = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    found = re.findall(r"--([a-z0-9-]+): #([0-9a-f]{3,6})", themes[theme == "dark"])
    return {
        name: value if len(value) == 6 else "".join(c * 2 for c in value) for name, value in found
    }


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("surface", ["t0", "t1", "t2", "t3", "free", "reserve"])
def test_names_in_bars_have_contrast(theme: str, surface: str) -> None:
    """axe does not judge text in pictures (WCAG 2.2, 1.4.3: 4.5 to 1)."""
    colours = _colours(theme)
    one, two = sorted(_luminance(colours[name]) for name in ("bar-ink", surface))

    assert (two + 0.05) / (one + 0.05) >= 4.5


def test_paper_has_the_light_theme() -> None:
    """Ink of the dark theme would be invisible on paper."""
    assert CSS.count("prefers-color-scheme") == CSS.count("screen and (prefers-color-scheme: dark)")


@pytest.mark.thorough
def test_two_hundred_teams_stay_below_a_megabyte(tmp_path: Path) -> None:
    write_platform(tmp_path / "profiles", REPOSITORY, 200, 4)
    generation = generate(tmp_path / "profiles", "../profiles/components")
    platform = generation.checked.platform
    assert platform
    clusters = tuple(
        Cluster(site, measure(site, platform.allocations), generation.manifests[site.name], None)
        for site in platform.sites
    )
    written = page(replace(content(), clusters=clusters))

    assert len(written) < 1_000_000
    assert len(parse(written).all("tr")) > 200


def test_who_made_the_change_and_when_is_at_the_top() -> None:
    (head,) = parse(page(replace(content(), change=CHANGE))).all("header")
    assert CHANGE.origin in head.text


@pytest.mark.parametrize(
    ("kind", "clean", "shown"),
    [("fine", True, "fine"), ("warned", True, "warned"), ("fine", False, "warned")],
)
def test_head_has_one_colour_that_of_the_worse(kind: str, clean: bool, shown: str) -> None:
    """No green box is above what disturbs, and none around a warning."""
    plain = replace(content(), findings=()) if clean else content()
    (head,) = parse(page(replace(plain, change=replace(CHANGE, kind=kind)))).all("header")
    assert head.attributes["class"] == shown


def test_opened_path_is_no_good_news() -> None:
    badges = parse(page(replace(content(), change=CHANGE))).all("span")
    (opened,) = (tag for tag in badges if tag.text == "added")
    assert opened.attributes["class"].split() == ["badge", "warned"]


def test_head_has_one_number_of_objects_and_what_all_nodes_cost() -> None:
    (head,) = parse(page(content())).all("header")
    synced = sum(number_synced(each.manifests) for each in content().clusters)

    assert f"{synced:,} generated objects" in head.text
    assert f"Objects{synced:,}" in head.text
    assert "Cost of all nodes a month402,595 EUR, 1,191,360 USD" in head.text


def test_part_of_a_node_has_two_decimals_at_most() -> None:
    html = page(content()).decode()
    assert ">0.62<" in html
    assert not re.search(r">\d+\.\d{3,}<", html)
