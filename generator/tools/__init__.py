"""Programs for developers: they derive schemas and credential rules from pinned modules."""
