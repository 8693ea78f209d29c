"""The one YAML dialect of Trainyard: how profiles are read and manifests are written. The only home of PyYAML."""
