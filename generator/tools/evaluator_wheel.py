"""Pack the evaluator of `trainyard fit` into a wheel for each platform, for users without Go.

The release runs it beside the build of Trainyard's own wheel::

    python -m tools.evaluator_wheel dist

Each wheel has one program, whose name has the digest of its source: an older Trainyard never takes
a newer one, nor the other way round. Go builds for another processor without its tools.
"""

from __future__ import annotations

import argparse
import base64
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from trainyard import __version__
from trainyard.diagnostics import ToolError
from trainyard.golang import compile_program, find_go, installed_name
from trainyard_jobs.admission.evaluator import SOURCE

PLATFORMS: Final = {"manylinux_2_17_x86_64": "amd64", "manylinux_2_17_aarch64": "arm64"}
"""Tag of a wheel, and Go's name of the processor. The program is static: it needs no libc."""

_NAME: Final = "trainyard_evaluator"
_METADATA: Final = f"""\
Metadata-Version: 2.4
Name: trainyard-evaluator
Version: {__version__}
Summary: Judges admission policies for `trainyard fit`, with the API server's own code.
License-Expression: Apache-2.0
Requires-Dist: trainyard=={__version__}
"""
_BEGIN: Final = (1980, 1, 1, 0, 0, 0)
"""Time of each file: the same program gives the same wheel."""
_PROGRAM_MODE: Final = 0o100755 << 16
_FILE_MODE: Final = 0o100644 << 16


def pack(program: Path, platform: str, target: Path) -> Path:
    """Write the wheel with a program, and return its path.

    Args:
        program: the evaluator of this source.
        platform: tag of the wheel.
        target: folder of the wheel.
    """
    about = f"{_NAME}-{__version__}"
    tag = f"py3-none-{platform}"
    wheel = f"Wheel-Version: 1.0\nGenerator: trainyard\nRoot-Is-Purelib: false\nTag: {tag}\n"
    script = f"{about}.data/scripts/{installed_name(SOURCE)}"
    files = {
        script: program.read_bytes(),
        f"{about}.dist-info/METADATA": _METADATA.encode(),
        f"{about}.dist-info/WHEEL": wheel.encode(),
    }
    record = f"{about}.dist-info/RECORD"
    files[record] = _record(files, record).encode()
    path = target / f"{about}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, _BEGIN)
            info.external_attr = _PROGRAM_MODE if name == script else _FILE_MODE
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return path


def _record(files: Mapping[str, bytes], own: str) -> str:
    """Return the list of a wheel's files with their digests, itself without one."""
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{own},,\n"])


def main(arguments: Sequence[str]) -> int:
    """Build the program for each platform and pack it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the wheels are written")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    try:
        go = find_go()
        for platform, processor in PLATFORMS.items():
            with tempfile.TemporaryDirectory() as scratch:
                program = Path(scratch) / SOURCE.name
                compile_program(go, SOURCE, ".", program, processor=processor)
                sys.stdout.write(f"{pack(program, platform, folder)}\n")
    except ToolError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
