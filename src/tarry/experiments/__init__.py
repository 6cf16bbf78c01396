"""What is run: its description, the runner, results on disk, numbers, figures."""
