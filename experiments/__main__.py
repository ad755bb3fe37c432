"""`python -m experiments`, which scripts/reproduce starts."""

from experiments.command import reproduce
from leverrier.cli import main

main(command=reproduce, name="scripts/reproduce")
