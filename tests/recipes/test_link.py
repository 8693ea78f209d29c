"""*Add a fabric link*, followed in a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.checkout import FRESH, Checkout
from tests.recipes.modules import need_modules

pytestmark = pytest.mark.thorough

LINK = '''\
SPECTRUM = Link(
    name="spectrum",
    segment="tag",
    field="tag",
    ranges="tags",
    enforced="Tags",
    prepared=(_FIRMWARE,),
    first=2,
    last=4094,
    mask=0xFFF,
    most=4093,
    sriov_type="eth",
    mtus=(1500, 9216),
    operator_networks=True,
)
"""A technology for this test: its segments are tags."""

'''
OTHER = """        _rails(ROCE, "RoCE by SR-IOV", "a VLAN of the team's own"),"""
RAILS = """        _rails(SPECTRUM, "Spectrum by SR-IOV", "a tag of the team's own"),\n"""
PROVIDER = "generator/trainyard/model/providers.py"
LINKS = "LINKS: Mapping[str, Link] = by_name((INFINIBAND, ROCE"
RANGE = """\
        "tags": {
          "title": "Tags",
          "description": "Range of tags for teams, with link spectrum.",
          "type": "string",
          "pattern": "^[1-9][0-9]{0,3}-[1-9][0-9]{0,3}$",
          "x-message": "a range of tags, e.g. 100-199"
        },
"""
FIELD = """\
        "tag": {
          "title": "Tag",
          "description": "Tag of the team, on a fabric with link spectrum.",
          "type": "integer",
          "minimum": 0,
          "maximum": 4095
        },
"""
ENTRY = """\
    Entry(
        "platform/sriov-network-spectrum",
        scopes.within("network", scopes.networks(SPECTRUM)),
        link=SPECTRUM.name,
    ),
"""
VLANS = '        "vlans": {\n'
VLAN = '        "vlan": {\n'
VOLUME = '    Entry("platform/persistent-volume"'
PLACE = "build/spectrum"
CASE = '        "roce": ("vlans", "vlan", "eth"),'


def test_link_is_added_as_its_recipe_says(tmp_path: Path) -> None:
    """A cluster with it gets a tree that is valid, with a network and a tag for each team."""
    need_modules()
    copy = Checkout(tmp_path, "Add a fabric link")
    copy.replace("generator/trainyard/model/link.py", LINKS, f"{LINK}{LINKS}, SPECTRUM")
    cluster, allocations = (
        f"generator/trainyard/schema/{kind}.schema.json" for kind in ("cluster", "allocations")
    )
    copy.replace(PROVIDER, "ROCE, Link", "ROCE, SPECTRUM, Link")
    copy.insert(PROVIDER, OTHER, RAILS)
    copy.replace(cluster, '            "roce",\n', '            "roce",\n            "spectrum",\n')
    copy.replace(cluster, VLANS, RANGE + VLANS)
    copy.replace(allocations, VLAN, FIELD + VLAN)
    catalog = "generator/trainyard/render/catalog.py"
    copy.replace(catalog, "import INFINIBAND, ROCE", "import INFINIBAND, ROCE, SPECTRUM")
    copy.replace(catalog, VOLUME, ENTRY + VOLUME)
    copy.write(
        "templates/platform/sriov-network-spectrum.yaml.j2",
        (copy.folder / "templates/platform/sriov-network.yaml.j2").read_text("utf-8"),
    )
    copy.insert("tests/model/test_link.py", CASE, '        "spectrum": ("tags", "tag", "eth"),\n')
    copy.run("python -m docs.generate")
    _tree(copy)
    tests = (
        "tests/model/test_link.py",
        "tests/schema/test_profiles.py",
        "tests/test_golden.py",
        "tests/scaffold/test_allocate.py",
    )
    copy.type("make golden docs test", (*FRESH, *tests))
    copy.done(most=7)


def _tree(copy: Checkout) -> None:
    """Generate and verify the tree of a cluster that uses the link."""
    folder = copy.folder / "build" / "spectrum"
    folder.mkdir(parents=True)
    copy.run("trainyard init --release kubernetes-1.36 --hardware dell-xe9680-h200", folder=PLACE)
    profile = folder / "profiles" / "clusters" / "lab.yaml"
    text = profile.read_text("utf-8")
    text = text.replace("roce", "spectrum").replace("vlans", "tags").replace("Vlans", "Tags")
    profile.write_text(text.replace("  LosslessQueue", "  # LosslessQueue"), "utf-8")
    copy.run("trainyard add team nlp --nodes 2", folder=PLACE)
    copy.run("trainyard generate", folder=PLACE)
    assert "0 skipped" in copy.run("trainyard verify", folder=PLACE)
    assert "nlp: {tag: 100," in (folder / "profiles" / "allocations.yaml").read_text("utf-8")
    assert list(folder.glob("overlays/lab/platform/sriovnetwork-*.yaml"))
