"""Several continua at once behind graded items: each item hangs on one of them, perhaps on more, and on observed
columns; continua may go together and be moved by observed columns."""
