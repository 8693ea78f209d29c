"""*Add a command*, followed in a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.checkout import FRESH, Checkout

pytestmark = pytest.mark.thorough

WORKFLOW = '''\
"""List the teams that the profiles have."""

from __future__ import annotations

from trainyard.model.platform import Platform


def contacts(platform: Platform) -> list[str]:
    """Return the name of each team, and who answers for it."""
    return [f"{team.name} {team.contact}" for team in platform.teams]
'''
COMMAND = '''\
"""``trainyard contacts``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli.console import result
from trainyard.cli.exits import Exit
from trainyard.cli.options import need_profiles, profiles_option
from trainyard.generation.generate import check
from trainyard.workflows.contacts import contacts


@click.command("contacts")
@profiles_option
def command(*, profiles: Path) -> int:
    """List who answers for each team."""
    need_profiles(profiles)
    checked = check(profiles)
    if checked.platform is None:
        return Exit.FINDINGS
    result("\\n".join(contacts(checked.platform)))
    return Exit.FINE
'''
TEST = """\
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cli.calls import Ended


def test_each_team_has_a_contact(trainyard: Callable[..., Ended], profiles: Path) -> None:
    ended = trainyard("contacts", "--profiles", str(profiles))

    assert (ended.code, ended.err) == (0, "")
    assert "nlp nlp-oncall@example.com" in ended.out.splitlines()
"""
LAYER = '  "add | facts | generate | known | placement'


def test_command_takes_six_files(tmp_path: Path) -> None:
    """It is in the help, in the reference and in the completion."""
    copy = Checkout(tmp_path, "Add a command")
    copy.write("generator/trainyard/workflows/contacts.py", WORKFLOW)
    copy.write("generator/trainyard/cli/commands/contacts.py", COMMAND)
    copy.insert(
        "generator/trainyard/cli/app.py",
        '    "rules": "List the rules.",',
        '    "contacts": "List who answers for each team.",\n',
    )
    copy.replace("pyproject.toml", LAYER, LAYER.replace("generate", "contacts | generate"))
    copy.write("tests/cli/test_contacts.py", TEST)
    copy.note("`trainyard contacts`.")
    documented = "tests/test_docs.py::test_every_command_has_a_section"
    tests = (*FRESH, documented, "tests/cli/test_contacts.py", "tests/cli/test_app.py")
    copy.type("make docs test", tests)

    assert "contacts" in copy.run("trainyard --help")
    assert "## contacts" in (copy.folder / "docs/reference/cli.md").read_text("utf-8")
    copy.done(most=6)
