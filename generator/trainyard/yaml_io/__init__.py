"""Read profiles and write manifests in one dialect of YAML, with PyYAML."""
