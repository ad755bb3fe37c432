"""From the counts of a family to the kind of distribution that says them best."""
