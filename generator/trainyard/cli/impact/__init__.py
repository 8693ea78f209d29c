"""The impact of a change as text, Markdown and JSON, from one set of lines."""
