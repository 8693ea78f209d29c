"""Rules about queues, cohorts, priorities and topology."""
