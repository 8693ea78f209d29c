"""Answers of a site to the measures of a regulation, one module a measure."""
