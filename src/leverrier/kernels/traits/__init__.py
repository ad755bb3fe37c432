"""Several correlated continua behind graded items: points round each row's place, and steps of the items."""
