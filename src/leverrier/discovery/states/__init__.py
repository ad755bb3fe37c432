"""How many states a hidden variable has [elidan2001]."""
