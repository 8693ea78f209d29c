"""What an instance type of AWS has.

The numbers of GPUs are from memory; types that are not here are left to the reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_GPUS = {
    "p3.2xlarge": (1, "V100"),
    "p3.8xlarge": (4, "V100"),
    "p3.16xlarge": (8, "V100"),
    "p3dn.24xlarge": (8, "V100"),
    "p4d.24xlarge": (8, "A100"),
    "p4de.24xlarge": (8, "A100"),
    "p5.4xlarge": (1, "H100"),
    "p5.48xlarge": (8, "H100"),
    "p5e.48xlarge": (8, "H200"),
    "p5en.48xlarge": (8, "H200"),
    "p6-b200.48xlarge": (8, "B200"),
    "g5.12xlarge": (4, "A10G"),
    "g5.24xlarge": (4, "A10G"),
    "g5.48xlarge": (8, "A10G"),
    "g6.12xlarge": (4, "L4"),
    "g6.24xlarge": (4, "L4"),
    "g6.48xlarge": (8, "L4"),
}
_NO_GPU = re.compile(r"[cmrt]\d[a-z]*\.\w+")
_OWN_CHIP = re.compile(r"(trn|inf|dl)\d")


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance type.

    Args:
        gpus: None where the type is not known.
        product: of the GPUs; empty for none.
    """

    gpus: int | None
    product: str = ""


def instance_of(name: str) -> Instance:
    """Return what an instance type has.

    Raises:
        ValueError: it has chips that no runtime knows.
    """
    text = name.removeprefix("ml.")
    if _OWN_CHIP.match(text):
        raise ValueError(f"{name} has chips such as Trainium or Gaudi, which no runtime knows")
    if text in _GPUS:
        return Instance(*_GPUS[text])
    return Instance(0 if _NO_GPU.fullmatch(text) else None)
