"""Read MPIJobs (kubeflow.org/v2beta1 and v1) as drafts of TrainJobs."""
