"""What happens to each object: created, changed, recreated, deleted or left behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.change.impact.platforms import CLUSTER, NLP, VISION, quota, sides
from tests.change.impact.test_quotas import NICS
from trainyard.change.impact.edits import same_edits
from trainyard.change.impact.objects import (
    ObjectChange,
    number_deleted,
    number_synced,
    object_changes,
    replaced,
)
from trainyard.change.objects import Sides
from trainyard.model.identity import Identity
from trainyard.model.manifest import Manifest

DRAINED: Mapping[str, Any] = {NLP: {"state": "draining"}}
RETIRED: Mapping[str, Any] = {NLP: {"state": "retired"}}


def changes(both: Sides, **renamed: str) -> dict[Identity, ObjectChange]:
    return {each.identity: each for each in object_changes(replace(both, renamed=renamed))}


def words(both: Sides, **renamed: str) -> Counter[str]:
    return Counter(each.change for each in object_changes(replace(both, renamed=renamed)))


def test_equal_trees_have_no_change() -> None:
    assert object_changes(sides({}, {})) == ()


def test_revert_has_each_object_of_the_change() -> None:
    """Nothing is in one direction only."""
    there, back = sides({}, DRAINED), sides(DRAINED, {})
    assert changes(there).keys() == changes(back).keys()
    assert {word for each in (there, back) for word in words(each)} == {"changed"}


def test_quota_shows_the_fields_that_differ() -> None:
    (queue,) = (
        each
        for each in object_changes(sides({}, {NLP: quota(2)}))
        if each.identity == Identity("ClusterQueue", "", "nlp-gpu")
    )
    (gpus,) = (
        each for each in queue.fields if "nvidia.com/gpu" in each.path and "nom" in each.path
    )
    assert gpus.path == (
        "spec.resourceGroups[0].flavors[dgx-h100].resources[nvidia.com/gpu].nominalQuota"
    )
    assert gpus.display == "32 -> 16"
    assert (queue.change, queue.scope, queue.unit) == ("changed", "cluster-wide", "platform")
    assert [each.path for each in queue.fields] == sorted(each.path for each in queue.fields)


def test_every_object_of_a_new_team_is_created() -> None:
    both = sides({VISION: None, "allocations.yaml": {"prod-east": {"ib": {"vision": None}}}}, {})
    created = [each for each in object_changes(both) if each.change == "created"]
    assert {each.identity for each in created} == both.after.keys() - both.before.keys()
    assert {each.scope for each in created if each.unit == "teams/vision"} == {
        "stateful",
        "stateless",
    }


def test_unit_whose_folder_goes_is_left_behind() -> None:
    """Argo CD prunes what the platform's unit has of the team, but for what is kept by hand."""
    both = sides(DRAINED, RETIRED)
    found = object_changes(both)
    of_unit = [each for each in found if each.unit == "teams/nlp"]
    assert {each.change for each in of_unit} == {"left behind"}
    assert {each.reason.partition(";")[0] for each in of_unit} == {"team `nlp` leaves the cluster"}
    kept = {
        each.identity.kind
        for each in found
        if each.unit in {"argocd", "platform"} and each.change == "left behind"
    }
    assert kept == {"AppProject", "PersistentVolume"}
    pruned = {each.identity for each in found if each.change == "deleted"}
    assert Identity("ClusterQueue", "", "nlp-gpu") in pruned


def test_unit_that_stays_loses_what_may_be_pruned() -> None:
    fewer = {NLP: {"storage": {"home": None}, "claims": None}}
    found = changes(sides({}, fewer))
    (claim,) = (each for each in found.values() if each.identity.kind == "PersistentVolumeClaim")
    assert (claim.change, claim.scope) == ("left behind", "stateful")
    assert claim.reason.startswith("storage not requested; it stays on the cluster")


def test_object_without_the_annotation_is_deleted() -> None:
    """An older tree may lack it, and Argo CD prunes what the committed object permits."""
    both = sides({}, {NLP: {"storage": {"home": None}, "claims": None}})
    bare = {key: _unannotated(each) for key, each in both.before.items()}
    (claim,) = (
        each
        for each in object_changes(replace(both, before=bare))
        if each.identity.kind == "PersistentVolumeClaim" and each.fields == ()
    )
    assert (claim.change, claim.reason) == ("deleted", "storage not requested")


def _unannotated(manifest: Manifest) -> Manifest:
    if manifest.kind.name != "PersistentVolumeClaim":
        return manifest
    metadata = {**manifest.body["metadata"], "annotations": {}}
    return replace(manifest, body={**manifest.body, "metadata": metadata})


def test_immutable_field_recreates_its_object() -> None:
    levels = {"fabrics": {"ib": {"levels": ["ml.example.com/spine", "ml.example.com/leaf"]}}}
    external = {"external": {"NodeLabel/ml.example.com/spine": "fabric team"}}
    found = changes(sides({}, {CLUSTER: {**levels, **external}}))
    topology = found[Identity("Topology", "", "ib")]
    assert (topology.change, topology.reason) == (
        "recreated",
        "the API server never changes levels",
    )


def test_next_version_of_a_runtime_takes_the_place_of_the_last() -> None:
    """It is one thing: not one object more and one less."""
    both = sides({}, {"runtimes/openmpi-cuda.yaml": {"version": 2}})
    runtimes = [
        each for each in object_changes(both) if each.identity.kind == "ClusterTrainingRuntime"
    ]
    assert [each.change for each in runtimes] == ["recreated"]
    assert "-v2-" in runtimes[0].identity.name
    assert runtimes[0].reason == "version 1 -> 2"


def test_renamed_team_takes_the_place_of_the_old_one() -> None:
    both = sides({}, {})
    after = {_renamed(key): _renamed_body(each) for key, each in both.after.items()}
    found = object_changes(replace(both, after=after, renamed={"nlp": "language"}))
    counted = Counter(each.change for each in found)
    assert counted.keys() <= {"recreated", "changed"}
    assert counted["recreated"] == sum(key != _renamed(key) for key in both.after)
    (namespace,) = (
        each for each in found if each.identity == Identity("Namespace", "", "team-language")
    )
    assert namespace.reason == "team `nlp` is now `language`; the old one is left behind"
    assert namespace.scope == "stateful"


def _renamed(key: Identity) -> Identity:
    name, namespace = (each.replace("nlp", "language") for each in (key.name, key.namespace))
    return Identity(key.kind, namespace, name)


def _renamed_body(manifest: Manifest) -> Manifest:
    body = _without_nlp(manifest.body)
    return replace(manifest, body=body, path=manifest.path.replace("nlp", "language"))


def _without_nlp(value: Any) -> Any:
    if isinstance(value, dict):
        return {_without_nlp(key): _without_nlp(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nlp(each) for each in value]
    return value.replace("nlp", "language") if isinstance(value, str) else value


@pytest.mark.parametrize("change", [DRAINED, RETIRED, {NLP: quota(1)}, {VISION: quota(6)}])
def test_every_object_that_differs_is_in_the_result_once(change: Mapping[str, Any]) -> None:
    both = sides({}, change)
    found = object_changes(both)
    differing = {
        key
        for key in {*both.before, *both.after}
        if key not in both.before
        or key not in both.after
        or both.before[key].body != both.after[key].body
    }
    assert [each.identity for each in found] == sorted(differing)


def test_cluster_that_goes_leaves_everything_behind() -> None:
    both = replace(sides({}, {}), new=None, after={})
    found = object_changes(both)
    synced = [each for each in found if each.scope != "artifact"]
    assert len(found) == len(both.before)
    assert {each.change for each in synced} == {"left behind"}
    assert {each.reason.partition(";")[0] for each in found} == {"cluster removed"}


def test_same_edit_of_eight_rails_is_one() -> None:
    both = sides({}, {CLUSTER: {"fabrics": {"ib": {"mtu": 2044}}}})
    edits = same_edits(object_changes(both))
    (rails,) = (each for each in edits if each.kind == "SriovNetworkNodePolicy")
    assert [each.path for each in rails.fields] == ["spec.mtu"]
    assert len(rails.objects) == len(
        [each for each in both.after if each.kind == "SriovNetworkNodePolicy"]
    )


@pytest.mark.parametrize("change", [DRAINED, RETIRED, {NLP: quota(1)}])
def test_edits_have_every_object_once_with_its_fields(change: Mapping[str, Any]) -> None:
    found = object_changes(sides({}, change))
    edits = same_edits(found)
    named = {identity: each for each in edits for identity in each.objects}
    assert sum(len(each.objects) for each in edits) == len(named) == len(found)
    for each in found:
        fields = each.fields if each.change == "changed" else ()
        assert named[each.identity].fields == fields
    assert len({(each.kind, each.change, each.reason, repr(each.fields)) for each in edits}) == len(
        edits
    )


def test_files_that_nothing_syncs_are_artifacts() -> None:
    found = object_changes(sides({}, RETIRED))
    artifacts = {each.unit for each in found if each.scope == "artifact"}
    assert artifacts == {"samples"}
    assert {each.change for each in found if each.unit == "samples"} == {"deleted"}


def test_only_what_is_deleted_counts_as_deleted() -> None:
    """Neither what is left behind or under a new name, nor a sample, nor the list of a unit."""
    both = sides({}, RETIRED)
    deleted = [each for each in object_changes(both) if each.change == "deleted"]
    artifacts = [each for each in deleted if each.scope == "artifact"]
    assert number_deleted(object_changes(both)) == len(deleted) - len(artifacts)
    assert {each.unit for each in artifacts} == {"samples"}

    after = {_renamed(key): _renamed_body(each) for key, each in both.before.items()}
    renamed = replace(both, after=after, renamed={"nlp": "language"})
    assert number_deleted(object_changes(renamed)) == 0

    assert number_deleted(object_changes(replace(both, after={}))) == 0
    samples = [each for each in both.before.values() if each.unit == "samples"]
    assert number_synced(both.before.values()) == len(both.before) - len(samples)


def test_order_of_the_trees_does_not_matter() -> None:
    both = sides({}, RETIRED)
    turned = replace(
        both,
        before=dict(reversed(list(both.before.items()))),
        after=dict(reversed(list(both.after.items()))),
    )
    assert object_changes(turned) == object_changes(both)
    assert same_edits(object_changes(turned)) == same_edits(object_changes(both))


def test_renamed_team_is_one_edit_of_each_kind_and_reason() -> None:
    both = sides({}, {})
    after = {_renamed(key): _renamed_body(each) for key, each in both.after.items()}
    edits = same_edits(object_changes(replace(both, after=after, renamed={"nlp": "language"})))
    recreated = [each for each in edits if each.change == "recreated"]
    keys = {(each.kind, each.scope, each.reason) for each in recreated}
    assert len(keys) == len(recreated)
    assert {each.fields for each in recreated} == {()}


def test_versions_of_a_runtime_are_paired_from_the_latest() -> None:
    kind = "ClusterTrainingRuntime"
    names = {number: Identity(kind, "", f"mpi-v{number}-h100") for number in (2, 9, 10, 11)}
    found = replaced({names[2], names[9]}, {names[10], names[11]}, {})
    assert {new: old.identity for new, old in found.items()} == {
        names[11]: names[9],
        names[10]: names[2],
    }
    assert found[names[11]].reason == "version 9 -> 11"


def test_team_whose_name_is_part_of_another_is_not_taken_for_it() -> None:
    gone = {Identity("ClusterQueue", "", "nlp2-gpu")}
    assert (
        replaced(gone, {Identity("ClusterQueue", "", "language2-gpu")}, {"nlp": "language"}) == {}
    )


def test_rail_that_nodes_lack_goes_and_the_quota_stays() -> None:
    fewer = {"hardware/dgx-h100.yaml": {"gpu": {"count": 4}, "nics": NICS[:4]}}
    changes = object_changes(sides({}, fewer))
    gone = [each for each in changes if each.identity.kind == "NetworkAttachmentDefinition"]
    reasons = {each.reason for each in gone if each.change == "deleted"}

    assert reasons == {"its team has no such rail any more"}
