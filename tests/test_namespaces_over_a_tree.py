"""Namespaces with names of their own: over committed trees, with the revert and next edits."""

from __future__ import annotations

import pytest

from tests.histories import History
from trainyard.yaml_io.reader import read

pytestmark = pytest.mark.thorough

LEFT = "change/namespace-left-behind"
MOVED = "change/uids-moved"
NLP = "teams/nlp.yaml"


def _state(history: History, name: str, file: str = NLP) -> None:
    history.write(file, lambda text: f"namespace: {name}\n{text}")


def _text(history: History, path: str) -> str:
    return (history.folder / "overlays/lab" / path).read_text(encoding="utf-8")


def _named_at_once(history: History, team: str, name: str) -> None:
    """Add a team whose namespace has a name of its own from the first commit on."""
    history.add(team)
    _state(history, name, f"teams/{team}.yaml")
    history.edit("allocations.yaml", f"team-{team}:", f"{name}:")
    history.commit()


def test_a_new_team_has_the_namespace_that_it_states(history: History) -> None:
    """Policies, the delivery and the user ids know the name; nothing has the usual one."""
    _named_at_once(history, "vision", "ml-vision")

    assert "name: ml-vision\n" in _text(history, "teams/vision/namespace-ml-vision.yaml")
    policy = "platform/validatingadmissionpolicy-trainyard-team-namespaces.yaml"
    assert "object.metadata.name == 'ml-vision'" in _text(history, policy)
    body = read("set", _text(history, "argocd/applicationset-lab-teams.yaml").encode())[0].value
    assert body["spec"]["template"]["spec"]["destination"]["namespace"] == (
        '{{ if eq .path.basename "vision" }}ml-vision{{ else }}team-{{.path.basename}}{{ end }}'
    )
    assert history.git("grep", "-l", "ml-vision", "overlays/lab/argocd").count("\n") == 2
    assert "team-vision" not in history.git("ls-files", "overlays").replace(
        "argocd/appproject-lab-team-vision.yaml", ""
    )
    assert [ids for ids in history.uids() if ids[0] == "ml-vision"] != []

    history.put("vision", "held")
    history.commit()
    history.revert()


def test_an_edit_of_the_name_is_a_rename(history: History) -> None:
    """Refused while jobs may run; after a drain the files and user ids follow."""
    history.edit(NLP, "# storage: {home: 1Ti}", "storage: {home: 1Ti}")
    history.commit()
    before = history.uids()
    _state(history, "ml-nlp")
    history.refused(LEFT, MOVED)
    history.edit("allocations.yaml", "team-nlp:", "ml-nlp:")
    history.refused(LEFT)
    history.restore()
    history.unchanged()

    history.put("nlp", "draining")
    history.commit()
    _state(history, "ml-nlp")
    history.refused(MOVED)
    history.edit("allocations.yaml", "team-nlp:", "ml-nlp:")
    history.commit()
    ((first, _),) = [each[1:] for each in before if each[0] == "team-nlp"]
    assert ("ml-nlp", first, False) in history.uids()
    assert ("team-nlp", first, True) in history.uids()
    assert "/home/nlp\n" in _text(history, "platform/persistentvolume-lab-ml-nlp-home.yaml")


def test_a_rename_is_taken_back_like_another_one(history: History) -> None:
    history.put("nlp", "draining")
    history.commit()
    _state(history, "ml-nlp")
    history.edit("allocations.yaml", "team-nlp:", "ml-nlp:")
    history.commit()
    history.put("nlp", "active")
    history.commit()

    history.git("restore", "--source", "HEAD~3", "profiles")
    history.refused(LEFT)
    history.restore()
    history.put("nlp", "draining")
    history.commit()
    history.edit(NLP, "namespace: ml-nlp\n", "")
    history.edit("allocations.yaml", "ml-nlp:", "team-nlp:")
    history.commit()
    assert [former for name, _, former in history.uids() if name == "team-nlp"] == [False]


def test_what_can_not_move_keeps_the_name(history: History) -> None:
    """A claim whose volume a class makes, drained or not."""
    history.edit("clusters/lab.yaml", "storage:", "storage:\n  trainyard-own: {class: standard}")
    history.edit("clusters/lab.yaml", "external:", "external:\n  StorageClass/standard: storage")
    history.write(NLP, lambda text: f"{text}storage: {{trainyard-own: 1Ti}}\n")
    history.put("nlp", "draining")
    history.commit()
    _state(history, "ml-nlp")
    history.edit("allocations.yaml", "team-nlp:", "ml-nlp:")
    history.refused("change/claim-left-behind")


def test_spaces_do_not_swap_their_names(history: History) -> None:
    history.write(NLP, lambda text: f"{text}spaces: {{debug: {{namespace: nlp-debug}}}}\n")
    history.commit()
    history.edit(NLP, "namespace: nlp-debug", "namespace: team-nlp")
    _state(history, "nlp-debug")
    history.edit("allocations.yaml", "team-nlp:", "nlp-debug:")
    history.refused(LEFT, MOVED)


def test_one_name_is_one_team_s(history: History) -> None:
    """Each is an error at the line, whichever team has it first, and on one more cluster too."""
    _state(history, "team-audio")
    history.refused("names/clashing-names")
    history.restore()

    _named_at_once(history, "vision", "ml-vision")
    _state(history, "ml-vision")
    history.refused("names/clashing-names")
    history.restore()
    _state(history, "team-vision")
    history.refused("names/reserved-namespace")
    history.restore()
    # Their bindings would have one name.
    _state(history, "audio")
    history.refused("names/clashing-names")
