"""Tools for jobs: turn those of other systems into TrainJobs, and tell whether one would start."""
