"""Options that several commands share, with their completions and checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import date, datetime
from pathlib import Path
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from trainyard.cli.exits import NoInput
from trainyard.cli.formats import OutputType, one_on_stdout
from trainyard.cli.places import Places, shown_folder
from trainyard.diagnostics import TreeError
from trainyard.generation.generate import Generation
from trainyard.model.nearest import nearest
from trainyard.profiles.read import PACKAGE, other_releases
from trainyard.resolve.release import resolve_others
from trainyard.yaml_io.source import Profiles

Command = TypeVar("Command", bound=Callable[..., object])
"""A command's function, which an option leaves as it is."""

RELEASES = sorted(path.parent.name for path in PACKAGE.glob("releases/*/release.yaml"))
PRESETS = sorted(path.stem for path in PACKAGE.glob("presets/*.yaml"))
"""Names of what is shipped."""


class ReleaseChoice(click.Choice[str]):
    """A release; a version that no release is for is refused with the reason."""

    def __init__(self) -> None:
        super().__init__(RELEASES)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of the release."""
        others = () if value in RELEASES else resolve_others(other_releases())
        other = next((each for each in others if each.holds(value)), None)
        if other is not None:
            self.fail(f"there is no release {value!r}: {other.reason}. {other.instead}", param, ctx)
        return super().convert(value, param, ctx)


class _Folder(click.Path):
    """A folder whose path the tree can name: YAML holds text only."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Return the path; a name that is not UTF-8 is a wrong use."""
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail(f"the name of {click.format_filename(value)!r} is not UTF-8", param, ctx)
        return super().convert(value, param, ctx)


_FOLDER = _Folder()

profiles_option = click.option(
    "--profiles",
    type=_FOLDER,
    default="profiles",
    show_default=True,
    metavar="DIR",
    help="Folder of the profiles.",
)
output_option = click.option(
    "--output",
    type=_FOLDER,
    default="overlays",
    show_default=True,
    metavar="DIR",
    help="Folder of the tree.",
)


def format_option(*others: str) -> Callable[[Command], Command]:
    """Return the option ``--format`` of a command: text, and the other forms that it has."""
    forms = ("text", *others)
    return click.option(
        "--format",
        "formats",
        type=OutputType(forms),
        multiple=True,
        default=["text"],
        show_default=True,
        metavar="F[:FILE]",
        callback=one_on_stdout,
        help=f"{', '.join(forms[:-1])} or {forms[-1]}, to stdout or a file; may be given several "
        "times.",
    )


color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour on stdout; auto obeys NO_COLOR and FORCE_COLOR.",
)


def names_in(folder: Path) -> list[str]:
    """Return the names of the profiles in a folder; none when it does not exist."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def folders_in(folder: Path) -> list[str]:
    """Return the names of the folders in a folder; none when it does not exist."""
    return sorted(path.name for path in folder.glob("*") if path.is_dir())


def complete_cluster(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a cluster from the folder's files alone."""
    return _complete(ctx, "clusters", incomplete)


def complete_team(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a team from the folder's files alone."""
    return _complete(ctx, "teams", incomplete)


def _complete(ctx: click.Context, kind: str, incomplete: str) -> list[CompletionItem]:
    known = names_in(Path(ctx.params.get("profiles") or "profiles") / kind)
    return [CompletionItem(name) for name in known if name.startswith(incomplete)]


cluster_option = click.option(
    "--cluster",
    "clusters",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_cluster,
    help="Only this cluster; may be given several times.",
)


def need_profiles(folder: Path, clusters: Iterable[str] = ()) -> None:
    """Refuse a folder without profiles, which would look green, or an unknown cluster.

    Raises:
        NoInput: the folder holds no profile.
        click.UsageError: a cluster has no profile.
    """
    if not any(folder.glob("*.yaml")) and not any(folder.glob("*/*.yaml")):
        raise NoInput(
            f"no profiles in {folder}; run `trainyard init` to start, or name their folder with "
            "`--profiles`"
        )
    known = names_in(folder / "clusters")
    for name in clusters:
        need_name("cluster", name, known)


def need_apart(profiles: Path, output: Path) -> None:
    """Refuse a tree that is, holds or is inside the profiles: it is replaced as a whole.

    Raises:
        click.UsageError: it does.
    """
    here, tree = profiles.resolve(), output.resolve()
    if here == tree:
        relation = "is the folder of"
    elif tree in here.parents:
        relation = "holds"
    elif here in tree.parents:
        relation = "is inside"
    else:
        return
    message = f"`--output {output}` {relation} the profiles (`{profiles}`)"
    advice = "start the command outside of them, or name another folder for the tree"
    raise click.UsageError(f"{message}: {advice}")


def need_clusters(generation: Generation, profiles: Path, *, fine: bool) -> None:
    """Refuse to call an empty tree a success.

    Raises:
        NoInput: no cluster has a profile.
    """
    if fine and not generation.files:
        need_cluster(profiles)


def need_cluster(profiles: Path) -> None:
    """Refuse profiles without a cluster, about which there is nothing to show.

    Raises:
        NoInput: no cluster has a profile.
    """
    if not names_in(profiles / "clusters"):
        raise NoInput(
            f"no cluster in {profiles / 'clusters'}; a tree belongs to a cluster, so write its "
            "profile first"
        )


def need_name(kind: str, name: str, known: Iterable[str]) -> None:
    """Refuse an unknown name.

    Raises:
        click.UsageError: it is unknown; with the nearest name that exists.
    """
    names = sorted(known)
    if name in names:
        return
    near = nearest(name, names)
    hint = f"did you mean `{near}`?" if near else f"there is: {', '.join(names) or 'none yet'}"
    raise click.UsageError(f"there is no {kind} `{name}`; {hint}")


def today() -> str:
    """Return today's date, which last days are compared with; nothing else reads a clock.

    Raises:
        TreeError: the clock shows a day that no profile can name.
    """
    try:
        return date.today().isoformat()  # noqa: DTZ011 - the reader's own day
    except (OverflowError, ValueError, OSError) as problem:
        raise TreeError(f"the clock of this machine shows no usable day: {problem}") from problem


def day_option(default: str, otherwise: Callable[[], str]) -> Callable[[Command], Command]:
    """Return the option ``--today``.

    Args:
        default: the day that counts without the option, for the help.
        otherwise: returns that day; an empty one is left to the command.
    """

    def day(_: click.Context, __: click.Parameter, value: datetime | None) -> str:
        return value.date().isoformat() if value else otherwise()

    return click.option(
        "--today",
        "day",
        type=click.DateTime(["%Y-%m-%d"]),
        callback=day,
        metavar="DATE",
        help="Day, YYYY-MM-DD, that last days of quotas, maintenance, runtimes, rights and waivers "
        f"are compared with. It never changes the tree. Default: {default}.",
    )


today_option = day_option("the current day", today)


def components_root(profiles: Path, output: Path) -> str:
    """Return the path of the hand-written components relative to the tree."""
    return Path(os.path.relpath(profiles / "components", output)).as_posix()


def places(read: Profiles, profiles: Path, output: Path = Path("overlays")) -> Places:
    """Return the places of findings, with the folders as the user named them."""
    return Places(
        read.sources(), {"profiles": shown_folder(profiles), "overlays": shown_folder(output)}
    )
