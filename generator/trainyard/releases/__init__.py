"""Releases: tested sets of operator versions and the manifest schemas that go with them.

Each subfolder is one release. ``kinds.toml`` lists the kinds that Trainyard may emit, ``go.mod``
and ``go.sum`` pin where their schemas come from, ``handwritten/`` holds those that no module ships,
``schemas/`` is derived (`tools.derive`) and is the only part that is read at run time.
"""
