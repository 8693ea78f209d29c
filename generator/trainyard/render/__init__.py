"""Platform to Manifests: a catalog of templates, each the shape of one object; no decision is taken here."""
