"""Hidden variables in sequences [boyen1999]."""
