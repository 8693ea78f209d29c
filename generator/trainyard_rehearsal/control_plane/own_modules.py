"""Write the go.mod and go.sum of programs in versions that none is shipped of, into the cache."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.diagnostics import ToolError
from trainyard.golang import download, run_go
from trainyard_rehearsal.control_plane.components import Program, upstream


def write_modules(go: Path, programs: Iterable[Program], progress: Callable[[str], None]) -> None:
    """Write the module of each program that has none yet: upstream's own, as the shipped ones are.

    Go takes each checksum from its public log (``GOSUMDB``).

    Raises:
        ToolError: the proxy does not serve a version, or a checksum does not match.
    """
    packages: dict[Path, list[Program]] = {}
    for program in programs:
        if not program.folder.is_dir():
            packages.setdefault(program.folder, []).append(program)
    for folder, found in packages.items():
        progress(f"reading the modules of {folder.name}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            partial = Path(scratch) / folder.name
            partial.mkdir()
            _write(go, partial, found)
            partial.replace(folder)


def _write(go: Path, folder: Path, programs: list[Program]) -> None:
    """Write upstream's go.mod with another name, the module itself and its programs."""
    wanted = upstream(programs[0])
    try:
        (found,) = download(go, folder, wanted)
    except ToolError as error:
        raise ToolError(
            f"{error}; state a version that the module proxy serves, or only its minor version, "
            "in the release"
        ) from error
    (folder / "go.mod").write_bytes(Path(found["GoMod"]).read_bytes())
    stated = json.loads(run_go(go, folder, "mod", "edit", "-json"))
    edits = [f"-module=trainyard/rehearse/{folder.name}", f"-require={wanted}"]
    edits += _replaced(stated, programs[0].version)
    edits += [f"-tool={program.package}" for program in programs]
    run_go(go, folder, "mod", "edit", *edits)
    run_go(go, folder, "mod", "tidy")


def _replaced(stated: Mapping[str, Any], version: str) -> Iterator[str]:
    """Yield edits of Kubernetes' ``replace`` lines, which name folders of its own repository.

    Each such folder is published as a module: ``k8s.io/api`` of 1.36.3 is v0.36.3.
    """
    for each in stated.get("Replace") or ():
        path = each["Old"]["Path"]
        if re.fullmatch(rf"\./staging/src/{re.escape(path)}", each["New"]["Path"]):
            published = re.sub(r"^\d+", "0", version)
            yield f"-replace={path}={path}@v{published}"
