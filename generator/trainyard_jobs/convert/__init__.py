"""Turn jobs of other systems into TrainJobs, and name everything that is lost or means another."""
