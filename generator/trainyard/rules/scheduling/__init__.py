"""Queues, cohorts and priorities."""
