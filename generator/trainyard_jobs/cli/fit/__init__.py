"""Verdicts about TrainJobs as text and as JSON."""
