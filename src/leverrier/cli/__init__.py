"""The command line: parse, call, print. Exit codes: 0 done, 2 bad input (one clear line), 130 interrupted."""

from __future__ import annotations

import sys

from leverrier.cli.group import cli


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run the command line; every failure the user can cause becomes one line and a code."""
    import click

    from leverrier.errors import LeverrierError

    try:
        code = cli.main(args=arguments, prog_name="leverrier", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Abort:
        return _say("interrupted", 130)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except click.ClickException as error:
        return _say(error.format_message(), 2)
    except LeverrierError as error:
        return _say(str(error), 2)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone: nothing more to say
        return 0
    except OSError as error:
        return _say(f"{error.filename or 'file'}: {error.strerror or error}", 2)


def _say(message: str, code: int) -> int:
    import click

    click.echo("leverrier: " + " ".join(message.split()), err=True)
    return code
