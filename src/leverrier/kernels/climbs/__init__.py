"""A climb with one hidden variable in a region of complete columns, without leaving compiled code."""
