"""Run the stages of each command for jobs in their order."""
