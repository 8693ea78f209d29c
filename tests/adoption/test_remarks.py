"""What a draft says about the dump itself, and about what it does not list."""

from __future__ import annotations

import pytest

from tests.adoption.sites import body, claim, flavor, node, plain
from tests.adoption.test_properties import drafted
from trainyard.adoption.page import page
from trainyard.adoption.wording import quoted

POOL = {"pool": "a"}


def hardware(sizes: dict[str, str]) -> str:
    """Return the drafted hardware of one node without pods in the dump."""
    found = node("n1", labels=POOL)
    found["status"]["allocatable"] |= sizes
    daemon = body("apps/v1", "DaemonSet", "exporter", "monitoring", spec={})
    adoption = drafted([flavor("a", POOL), found, daemon])
    return adoption.files["profiles/hardware/a.yaml"].decode()


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"memory": "1991Gi"}, ""),
        ({"memory": "2113929216Ki"}, ""),
        ({"memory": "2113929217Ki"}, "memory"),
        ({"memory": "3Ti", "cpu": "225"}, "cpu and memory"),
        ({"memory": "1991Gi", "ephemeral-storage": "2Ti"}, "ephemeral-storage"),
    ],
)
def test_node_that_offers_more_than_it_has_is_named(sizes: dict[str, str], said: str) -> None:
    """Nothing is guessed of it: the share of kubelet is the least."""
    text = hardware(sizes)
    assert ("is above capacity: read the nodes again" in text) == bool(said)
    assert f"allocatable {said} is above" in text or not said


def test_draft_without_pods_says_why_daemonsets_do_not_count() -> None:
    assert "no pods are in the dump, and a DaemonSet does not say on which" in hardware({})


def test_what_a_choice_lists_is_whole() -> None:
    """Fifty claims: far more than a line of a terminal."""
    names = [f"claim-{number:02}-of-a-team-with-a-long-name" for number in range(50)]
    claims = [claim("biology", each, "1Ti", "ReadWriteMany", each) for each in names]
    for each in claims:
        each["spec"]["volumeMode"] = "Block"
    adoption = drafted([*plain(), *claims])
    (text,) = (each.text for each in adoption.choices if each.text.startswith("storage: "))
    assert all(f"{each}: {{volume: " in text for each in names)
    assert text.endswith("and nobody can change these")
    shown = page(adoption).decode()
    assert text.split(", after")[0].rpartition(": ")[2] in shown
    assert "and nobody can change these" in shown


def test_text_that_is_cut_says_so() -> None:
    assert quoted("x" * 90_000).endswith("x ... (90000 characters)")


def test_page_names_the_commands_that_list_the_rest() -> None:
    text = page(drafted(plain())).decode()
    assert "`trainyard drift site --from DUMP`" in text
    assert "`trainyard fit --replay DUMP --cluster site`" in text
