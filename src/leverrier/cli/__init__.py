"""The command line: parse, call, print. Exit codes: 0 done, 2 bad input (one clear line), 130 interrupted."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click


def main(arguments: list[str] | None = None, command: click.Command | None = None, name: str = "leverrier") -> None:
    """Run the command line and end the process with its exit code; another command of the repository as well."""
    signal.signal(signal.SIGINT, _at_once)
    from leverrier.cli.progress_bar import early, leave

    signal.signal(signal.SIGINT, early)
    code = run(sys.argv[1:] if arguments is None else arguments, command, name)
    if code == 130:
        leave("")  # nobody waits for threads and other processes that were given up
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is written: while Python packs up there is nothing to interrupt
    sys.exit(code)


def _at_once(number: int, frame: object) -> None:  # noqa: ARG001
    raise SystemExit(130)


def run(arguments: list[str], command: click.Command | None = None, name: str = "leverrier") -> int:
    """Run the command line; every failure the user can cause becomes one line and a code."""
    import click

    from leverrier.cli.group import cli
    from leverrier.cli.progress_bar import calm
    from leverrier.errors import Cut, LeverrierError, as_raised

    try:
        with as_raised():
            code = (command or cli).main(args=arguments, prog_name=name, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Abort:
        return _say("interrupted", 130)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except Cut:
        return _say("the budget ran out before there was anything to say: give it more time", 2)
    except MemoryError:
        return _say("not enough memory: give it fewer rows or columns", 2)
    except click.ClickException as error:
        return _say(error.format_message(), 2)
    except LeverrierError as error:
        return _say(str(error), 2)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone: nothing more to say
        return 0
    except OSError as error:
        return _say(f"{error.filename or 'file'}: {error.strerror or error}", 2)
    finally:
        calm()


def _say(message: str, code: int) -> int:
    import click

    click.echo("leverrier: " + " ".join(message.split()), err=True)
    return code
