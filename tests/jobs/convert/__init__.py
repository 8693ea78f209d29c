"""Jobs of other systems as TrainJobs."""
