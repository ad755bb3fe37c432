"""`python -m leverrier`."""

from leverrier.cli import main

main()
