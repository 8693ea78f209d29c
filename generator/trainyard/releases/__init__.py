"""Releases: tested sets of operator versions and the manifest schemas that go with them.

Each subfolder with a ``release.yaml`` is one release. Its ``go.mod`` and ``go.sum`` pin the modules
that its schemas come from. ``crds.toml`` says where these have their CRDs, and ``handwritten/`` has
the kinds that no module ships. `tools.derive` writes ``schemas/``, ``plurals.yaml`` and
``crds.json`` from them.
"""
