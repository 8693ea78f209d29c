"""What follows from the product of an accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.model.accelerator import NVIDIA, known, maker_of


def with_known(gpu: Mapping[str, Any]) -> dict[str, Any]:
    """Return the accelerators of a profile with what is known of their product.

    Nothing is guessed for a product of an unknown maker: its resource is not given. CUDA is for
    those of NVIDIA alone.
    """
    product = gpu.get("product", "")
    found, maker = known(product), maker_of(product)
    filled: dict[str, Any] = {}
    if maker:
        filled["resource"] = maker.resource
    if found:
        filled["minimumCuda"] = found.minimum_cuda
    elif maker not in {NVIDIA, None}:
        filled["minimumCuda"] = ""
    return {**filled, **gpu}
