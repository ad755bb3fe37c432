"""The sources' experiments run with our code: each table and figure, the source's value beside ours."""
