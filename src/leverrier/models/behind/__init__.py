"""What stands behind columns of numbers and states, as values: places, links, fits, and each row's place."""
