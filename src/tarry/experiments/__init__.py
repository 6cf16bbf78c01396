"""What is run: description, runner, results on disk, numbers, figures, the paper and the report."""
