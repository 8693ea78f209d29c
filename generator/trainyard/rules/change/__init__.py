"""The last day of a runtime. Rules that compare with the committed tree are in `change.history`."""
