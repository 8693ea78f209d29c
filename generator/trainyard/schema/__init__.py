"""Shapes of profiles (jsonschema, with our messages) and of manifests (jsonschema-rs, fast)."""
