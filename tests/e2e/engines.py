"""Build each program of `tests/e2e/programs` once, into the cache of the rehearsal's programs.

`python -m tests.e2e.engines` builds all of them and fetches the packet filter of kube-router.
"""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path

from tests.e2e.image import packet_filter
from trainyard_rehearsal.control_plane.build import cache_folder, find_go, run_go

KUBE_ROUTER, SRIOV_OPERATOR = "kube-router", "sriov-network-operator"
_PROGRAMS = Path(__file__).parent / "programs"
_FILES = {
    SRIOV_OPERATOR: (
        "github.com/k8snetworkplumbingwg/sriov-network-operator",
        "deploy/configmap.yaml",
    )
}
"""A file of a program's module that is kept beside the program."""


def engine(name: str) -> Path:
    """Return the path of a program; the first call builds it, which takes minutes.

    Raises:
        ToolError: there is no Go, a checksum does not match, or the program does not build.
    """
    source = _PROGRAMS / name
    digest = sha256(
        b"\0".join((source / each).read_bytes() for each in ("go.mod", "go.sum", "main.go"))
    ).hexdigest()
    target = cache_folder() / "programs" / f"{name}-{digest[:12]}" / name
    if not target.exists():
        _build(source, target)
    return target


def _build(source: Path, target: Path) -> None:
    """Build a program under another name, then rename it: no partial program is ever found."""
    go, partial = find_go(), target.with_suffix(".partial")
    target.parent.mkdir(parents=True, exist_ok=True)
    run_go(go, source, "build", "-trimpath", "-ldflags", "-s -w", "-o", str(partial), ".")
    if source.name in _FILES:
        module, file = _FILES[source.name]
        folder = Path(run_go(go, source, "list", "-m", "-f", "{{.Dir}}", module).strip())
        shutil.copyfile(folder / file, target.parent / Path(file).name)
    partial.replace(target)


if __name__ == "__main__":
    for program in (KUBE_ROUTER, SRIOV_OPERATOR):
        engine(program)
    packet_filter(cache_folder())
