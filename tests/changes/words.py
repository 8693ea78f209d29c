"""Strings and wrong values for edits of keys."""

from __future__ import annotations

from trainyard.yaml_io.source import Plain

WORDS = (
    "extra",
    "spare-2",
    "extra-v2",
    "2",
    "1.6",
    "64Gi",
    "36h",
    "extra:argocd",
    "10.200.0.0/16",
    "10.64.64.0/20",
    "0x0110",
    "110",
    "0x0300-0x03ff",
    "300-399",
    "ml.example.com/extra",
    "extra@example.com",
    "https://extra.example.com/x",
    "/export/extra",
    "StorageClass/extra",
    "extra.example.com",
    "0000:18:00.0",
    "15b3",
    "ens1f0",
    "mlx5_0",
    "all",
    "none",
    "2027-06-30",
    "scheduling/no-reserve",
    "profiles/teams/nlp.yaml",
    "98.32 USD",
    "0.5 EUR",
    "A reason that is long enough",
    f"sha256:{'ab' * 32}",
    f"registry.example.com/ml/extra@sha256:{'ab' * 32}",
    "kustomize.config.k8s.io/v1alpha1",
    "Component",
)
"""Strings of every form of the schemas; a key's pattern selects those that fit."""

WRONG: tuple[Plain, ...] = (
    "",
    0,
    -1,
    10**12,
    True,
    None,
    [],
    {},
    [None],
    {"": ""},
    "x" * 5000,
    "Ünicode",
    "null",
    "\n",
)
