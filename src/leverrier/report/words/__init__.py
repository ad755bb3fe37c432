"""What is said: words are made here and nowhere else."""
