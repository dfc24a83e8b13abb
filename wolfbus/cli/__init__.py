"""The command line: the one place that puts moderator, players and analytics together, importing each only when a
command needs it.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

import click

from wolfbus import __version__
from wolfbus.errors import ConfigError, RecordError, WolfError

COMMANDS: Final = {
    "analytics": ("wolfbus.cli.analytics", "Keep a house's records in files, measure them live, and report."),
    "bench": ("wolfbus.cli.bench", "Measure games per second, CPU and bytes per statement, and memory."),
    "check-agent": ("wolfbus.cli.check_agent", "Try an agent on every request and edge, and say what it did wrong."),
    "compare": ("wolfbus.cli.compare", "Compare two studies, or two agents of one, in every headline metric."),
    "export": ("wolfbus.cli.export", "Write games as tables (CSV, Parquet) and as logs for Inspect."),
    "fake-model": ("wolfbus.cli.fake_model", "Serve a model double over HTTP, for tests and trials."),
    "join": ("wolfbus.cli.join", "Let a program that speaks the line protocol play in a house."),
    "moderator": ("wolfbus.cli.moderator", "Moderate a house: seat agents, play games, close it."),
    "play": ("wolfbus.cli.play", "Play one game, show it, write its record, print the metrics."),
    "player": ("wolfbus.cli.player", "Play seats in a house, as a process of its own."),
    "replay": ("wolfbus.cli.replay", "Prove a record by re-executing it, print its metrics, play it back."),
    "report": ("wolfbus.cli.report", "Make a page to read and cite of a study or of any records."),
    "rules": ("wolfbus.cli.rules", "Print the rules of a game in words."),
    "run": ("wolfbus.cli.run_study", "Play a study: many games of one design, resumable, in one process or several."),
    "schema": ("wolfbus.cli.schema", "Print JSON Schema of the messages and the record."),
    "status": ("wolfbus.cli.status", "Show what houses, games and agents there are on a bus."),
    "tickets": ("wolfbus.cli.tickets", "Give every participant a Redis user of its own, and take it back."),
    "up": ("wolfbus.cli.up", "Play with every actor as a process of its own, on this machine."),
    "watch": ("wolfbus.cli.watch", "Show a house's rolling suspicion and metrics in the terminal."),
}
"""Command name to (module, one line); the module is imported when the command runs, and holds a click command of that
name."""

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130


class _Late(click.Group):
    """A group whose commands are imported when they are run, so that ``--help`` stays quick."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(COMMANDS[cmd_name][0]), cmd_name.replace("-", "_"))
        for option in command.params:
            if isinstance(option, click.Option):
                _name_environment(cmd_name, option)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in sorted(COMMANDS.items())])


def _name_environment(command: str, option: click.Option) -> None:
    """Let ``WOLFBUS_COMMAND_OPTION`` set an option, by the name that users type, before any other variable it knows."""
    longest = max(option.opts, key=len).lstrip("-").replace("-", "_")
    own = f"WOLFBUS_{command.replace('-', '_')}_{longest}".upper()
    known = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or ())
    if own not in known:
        option.envvar = [own, *known]


@click.group(cls=_Late, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="wolfbus")
def cli() -> None:
    """Play WOLF, the Werewolf benchmark of deception among language models, as independent actors on a message bus.

    \b
    wolfbus play                      a whole game in this process, no server needed
    wolfbus replay runs/GAME.ndjson   prove the record and print its metrics

    Every option can be set by an environment variable, such as WOLFBUS_PLAY_SEED=7.
    """  # noqa: D301 - click takes the backspace for "keep these lines"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits 0 fine, 1 failed, 2 usage or unreadable input, 130 interrupted."""
    _open_what_was_closed()
    if sys.stdout is None:
        # before anything is opened: the next file would get its number, and all that is printed
        click.echo("wolfbus: stdout is closed, so nothing could be told; send it to /dev/null to do without", err=True)
        sys.exit(FAILED)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal that lacks a character gets its code, not a crash
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run(arguments))


def _open_what_was_closed() -> None:
    """Give a process that was started without stdin or stderr empty ones, which no file of ours can then take over."""
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every expected error is one line on stderr."""
    try:
        result: Any = cli.main(args=arguments, prog_name="wolfbus", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return USAGE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("wolfbus: interrupted", err=True)
        return INTERRUPTED
    except (ConfigError, RecordError) as error:
        click.echo(f"wolfbus: {error}", err=True)
        return USAGE
    except WolfError as error:
        click.echo(f"wolfbus: {error}", err=True)
        return FAILED
    except OSError as error:
        click.echo(f"wolfbus: {error.filename or 'the output'}: {(error.strerror or str(error)).lower()}", err=True)
        return FAILED
    return result if isinstance(result, int) else 0
