"""*Add a fabric*, followed in a copy: one whose devices others advertise is data alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import ROOT
from tests.recipes.checkout import FRESH, Checkout

pytestmark = pytest.mark.thorough

_PROVIDER = """
_SLINGSHOT = Provider(
    name="slingshot",
    title="HPE Slingshot",
    places=("HPE Cray",),
    request=Request.DEVICES,
    link=None,
    devices="example.com/cxi",
    network_owner="the cluster's owner",
    external=(_PLUGIN, _POOL_NETWORKS),
    separation=Separation.POOLS,
    separated_by="a network of the pool's own",
    whole_nodes=True,
    proof="NET/OFI",
    needs=(_ADVERTISED, _NO_LIMIT),
    quota="All devices of the team's nodes.",
    ucx=False,
)

PROVIDERS: Mapping"""
PROVIDER = "generator/trainyard/model/providers.py"
SCHEMA = "generator/trainyard/schema/cluster.schema.json"
EXAMPLE = "slingshot"
PAGES = "tests/test_docs.py::test_every_page_is_listed"


def test_fabric_of_devices_is_data_its_example_and_its_page(tmp_path: Path) -> None:
    """A developer writes the provider, its name in the schema, and the example with its name in
    two lists; the pages and the digests follow."""
    copy = Checkout(tmp_path, "Add a fabric")
    copy.replace(PROVIDER, "\nPROVIDERS: Mapping", _PROVIDER)
    copy.replace(PROVIDER, "        _GKE,\n    )", "        _GKE,\n        _SLINGSHOT,\n    )")
    last = '            "gke-rdma"\n'
    copy.replace(SCHEMA, last, f'{last.rstrip()},\n            "slingshot"\n')
    copy.replace(SCHEMA, 'shared-device or gke-rdma",', 'shared-device, gke-rdma or slingshot",', 1)
    _example(copy)
    first = 'PROVIDERS = (\n    "amd-roce",\n'
    copy.replace("tests/test_examples.py", first, f'{first}    "{EXAMPLE}",\n')
    listed = "- [RDMA on OCI]"
    copy.replace(
        "docs/README.md", listed, f"- [Slingshot](../examples/{EXAMPLE}/README.md)\n{listed}"
    )
    copy.run("python -m docs.generate")
    copy.type(
        "make golden docs test",
        (*FRESH, "tests/test_golden.py", PAGES, "tests/model/test_provider.py"),
    )
    place = f"--profiles examples/{EXAMPLE}/profiles --output {tmp_path}/tree"
    copy.run(f"trainyard generate {place}")
    assert "0 skipped" in copy.run(f"trainyard verify {place}")

    page = (copy.folder / "docs/reference/platforms.md").read_text("utf-8")
    assert "| `slingshot` | HPE Slingshot |" in page
    code = {path for path in copy.by_hand if path.startswith(("generator", "templates"))}
    assert code == {PROVIDER, SCHEMA}
    copy.done(most=4 + len(list((copy.folder / "examples" / EXAMPLE).rglob("*.*"))))


def _example(copy: Checkout) -> None:
    """Write an example: that of EFA with this fabric in its place."""
    efa = ROOT / "examples" / "aws-efa"
    for path in sorted(path for path in efa.rglob("*") if path.is_file()):
        text = path.read_text("utf-8").replace("link: efa", f"link: {EXAMPLE}")
        if path.name == "p5.yaml":
            text += "devices: {example.com/cxi: 4}\n"
        copy.write(f"examples/{EXAMPLE}/{path.relative_to(efa).as_posix()}", text)
