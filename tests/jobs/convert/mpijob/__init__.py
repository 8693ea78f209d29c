"""MPIJobs as TrainJobs: each case is a file, and what is printed about it is committed."""
