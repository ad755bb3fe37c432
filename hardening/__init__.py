"""`leverrier verify`: the checks that files, runs and answers hold up, on the user's own machine."""
