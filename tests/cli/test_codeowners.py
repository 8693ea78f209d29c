"""``trainyard codeowners``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import REPOSITORY, Ended, edit
from tests.codeowners.matching import owners_of

Call = Callable[..., Ended]
FILE = Path(".github/CODEOWNERS")


def test_file_is_written_once_and_then_fresh(repository: Path, trainyard: Call) -> None:
    assert trainyard("codeowners", "--check").code == 1
    assert not FILE.exists()
    assert trainyard("codeowners") == Ended(0, "wrote .github/CODEOWNERS\n", "")
    text = (repository / FILE).read_text("utf-8")
    assert owners_of(text, "profiles/teams/speech.yaml") == ("@ml-example/speech-leads",)
    assert owners_of(text, "profiles/waivers.yaml") == ("@ml-example/security",)
    assert trainyard("codeowners", "--check") == Ended(0, ".github/CODEOWNERS is up to date\n", "")


def test_changed_owner_is_stale_until_it_is_written(repository: Path, trainyard: Call) -> None:
    """The finding lists the line, and the revert of the profile brings the old file back."""
    trainyard("codeowners")
    before = FILE.read_bytes()
    edit(repository / "profiles/teams/speech.yaml", "speech-leads", "speech")
    ended = trainyard("codeowners", "--check")
    assert ended.code == 1
    assert "error[change/stale-owners]: .github/CODEOWNERS differs" in ended.out
    assert "note: missing: /profiles/teams/speech.yaml @ml-example/speech\n" in ended.out
    assert FILE.read_bytes() == before

    assert trainyard("codeowners").code == 0
    edit(
        repository / "profiles/teams/speech.yaml", "@ml-example/speech", "@ml-example/speech-leads"
    )
    assert trainyard("codeowners").code == 0
    assert FILE.read_bytes() == before


@pytest.mark.usefixtures("repository")
def test_other_order_is_stale(trainyard: Call) -> None:
    """The last line that matches a file decides."""
    trainyard("codeowners")
    head, first, second, *rest = FILE.read_text("utf-8").split("\n")
    FILE.write_text("\n".join([head, second, first, *rest]), "utf-8")
    ended = trainyard("codeowners", "--check")

    assert ended.code == 1
    assert "CODEOWNERS differs from the profiles: 1 line missing, 1 extra" in ended.out


@pytest.mark.usefixtures("repository")
def test_line_after_the_block_is_a_warning(trainyard: Call) -> None:
    """It stays, with its bytes, since a person wrote it."""
    trainyard("codeowners")
    FILE.write_bytes(b"* @org/all \xff\r\n" + FILE.read_bytes() + b"*.yaml @org/yaml\n")
    before = FILE.read_bytes()
    ended = trainyard("codeowners")

    assert ended.code == 0
    assert "warning[change/overridden-owners]: `*.yaml` comes after the block" in ended.out
    assert FILE.read_bytes() == before
    found = json.loads(trainyard("codeowners", "--check", "--format", "json").out)["result"]
    assert [each["rule"] for each in found["diagnostics"]] == ["change/overridden-owners"]
    assert found["diagnostics"][0]["start"]["line"] == before.count(b"\n")


def test_repository_without_owners_is_refused(repository: Path, trainyard: Call) -> None:
    """An empty block would look like a protection."""
    settings = repository / "profiles/trainyard.yaml"
    settings.write_text(settings.read_text("utf-8").partition("owners:")[0], encoding="utf-8")
    (repository / "profiles/teams/speech.yaml").unlink()
    ended = trainyard("codeowners")

    assert (ended.code, ended.out) == (3, "")
    assert "no profile states owners" in ended.err
    assert trainyard("codeowners", "--check") == Ended(
        0, "no profile states owners, and .github/CODEOWNERS has none of them\n", ""
    )


def test_owners_that_go_take_the_block_with_them(repository: Path, trainyard: Call) -> None:
    """Nobody stays an owner by a block that nothing generates any more."""
    Path("CODEOWNERS").write_text("* @org/all\n", encoding="utf-8")
    assert trainyard("codeowners").out == "wrote CODEOWNERS\n"
    settings = repository / "profiles/trainyard.yaml"
    settings.write_text(settings.read_text("utf-8").partition("owners:")[0], encoding="utf-8")
    edit(repository / "profiles/teams/speech.yaml", "owners:", "# owners:")

    assert trainyard("codeowners", "--check").code == 1
    assert trainyard("codeowners").code == 0
    assert Path("CODEOWNERS").read_text("utf-8").strip() == "* @org/all"


def test_profiles_of_a_subfolder_are_named_from_the_root(
    repository: Path, trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts read one file at the root of the repository."""
    (repository / ".git").mkdir()
    (repository / "gpu").mkdir()
    (repository / "profiles").rename(repository / "gpu/profiles")
    monkeypatch.chdir("gpu")
    assert trainyard("codeowners") == Ended(0, "wrote ../.github/CODEOWNERS\n", "")
    text = (repository / FILE).read_text("utf-8")

    assert owners_of(text, "gpu/profiles/waivers.yaml") == ("@ml-example/security",)


def test_broken_profile_writes_nothing(repository: Path, trainyard: Call) -> None:
    edit(repository / "profiles/trainyard.yaml", '"@ml-example/ml-platform"', '"a b"')
    ended = trainyard("codeowners")

    assert ended.code == 1
    assert "a user, team or e-mail address as CODEOWNERS has it" in ended.out
    assert not FILE.exists()


@pytest.mark.usefixtures("repository")
def test_link_is_never_followed(trainyard: Call) -> None:
    """A pull request could point it anywhere."""
    Path(".github").mkdir()
    FILE.symlink_to("../secret")
    ended = trainyard("codeowners")

    assert ended.code == 5
    assert "it is not a regular file" in ended.err


def test_this_repository_has_the_file_that_its_profiles_state(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own workflow checks it."""
    monkeypatch.chdir(REPOSITORY)
    assert trainyard("codeowners", "--check").code == 0
