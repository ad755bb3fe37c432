"""Whatever a user has, read as columns and tables, and written back."""
