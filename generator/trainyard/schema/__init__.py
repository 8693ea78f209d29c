"""Shapes: of the user's profiles (jsonschema, our own wording) and of the manifests we emit (jsonschema-rs, speed)."""
