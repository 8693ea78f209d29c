"""Figures as text, Markdown and CSV, each written from one model."""
