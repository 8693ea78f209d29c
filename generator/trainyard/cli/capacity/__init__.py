"""The capacity of clusters as text, Markdown, JSON and CSV."""
