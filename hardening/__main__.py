"""`python -m hardening`, which scripts/verify starts."""

from hardening.command import verify
from leverrier.cli import main

main(command=verify, name="scripts/verify")
