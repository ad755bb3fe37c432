"""A page as one offline file."""
