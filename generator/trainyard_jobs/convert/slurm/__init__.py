"""Turn a batch script of Slurm into TrainJobs; the script is read and never run."""
