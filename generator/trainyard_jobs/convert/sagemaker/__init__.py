"""Turn training jobs of SageMaker into TrainJobs: a request as JSON, or an estimator in Python."""
