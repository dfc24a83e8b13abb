"""The command line: the one place that puts moderator, players and analytics together, importing each only when a
command needs it.
"""

from __future__ import annotations

import contextlib
import difflib
import gc
import importlib
import io
import keyword
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

import click

from wolfbus import __version__
from wolfbus.bus.url import masked
from wolfbus.errors import ConfigError, ModelHalted, RecordError, WolfError, reason_of
from wolfbus.files.environment import clean_environment
from wolfbus.files.open_files import allow_many_files
from wolfbus.files.printable import visible
from wolfbus.service.signals import end_signals

GROUPS: Final[dict[str, dict[str, str]]] = {
    "Play and watch": {
        "play": "Play one game, show it, write its record, print the metrics.",
        "fork": "Play a game on from one of its statements, with others in its place.",
        "replay": "Re-execute a record, print its metrics, play it back.",
        "watch": "Print how the games of a house stand, as they go on.",
        "view": "Show games and studies on a page, live and finished.",
        "page": "Write a game or a study as one HTML file to send.",
        "rules": "Print the rules of a game in words.",
    },
    "Studies": {
        "run": "Play a study: many games of one design, resumable, in one process or several.",
        "plan": "Say how many games a study needs to find a difference, judged by a pilot.",
        "worker": "Play games of a study that `run --share` shares out, on any machine.",
        "report": "Make a page to read and cite of a study or of any records.",
        "import": "Bring over games of other tables: AIWolf, Kaggle, Werewolf Arena, a table of yours.",
        "compare": "Compare two studies, or two agents of one, in every headline metric.",
        "annotate": "Have a reader model or people judge a study's statements afterwards; agreement.",
        "beliefs": "Ask the models of a study's seats afterwards whom they took for Werewolves.",
        "export": "Write games as tables (CSV, Parquet) and as logs for Inspect.",
        "verify": "Say what of a study or record is whole, proven, and as it was published.",
    },
    "Services": {
        "up": "Play with every actor as a process of its own, on this machine.",
        "moderator": "Moderate a house: seat agents, play games, close it.",
        "player": "Play seats in a house, as a process of its own.",
        "analytics": "Keep a house's records in files, measure them live, and report.",
        "status": "Show what houses, games and agents there are on a bus.",
        "tickets": "Give every participant a Redis user of its own, and take it back.",
    },
    "Agents": {
        "join": "Let a program that speaks the line protocol play in a house.",
        "gateway": "Let clients of another project's protocol (AIWolf) play in a house.",
        "check-agent": "Try an agent on every request and edge, and say what it did wrong.",
    },
    "For developers": {
        "fake-model": "Serve a model double over HTTP, for tests and trials.",
        "schema": "Print JSON Schema of the messages and the record.",
    },
}
"""Commands by what they are for, each with its one line."""

COMMANDS: Final = {name: line for group in GROUPS.values() for name, line in group.items()}
"""All commands by name, in the order of the help. Each is the click command of that name in a module of that name here,
imported when the command runs."""

_MODULES: Final = {
    "import": "import_games",
    "run": "run_study",
    "join": "player",
    "page": "view",
    **dict.fromkeys(("moderator", "analytics"), "services"),
}
"""Modules of commands that do not have one of their own name."""

FAILED: Final = 1
USAGE: Final = 2
HALTED: Final = 3
"""Games halted, since a model can be asked no more for now."""
SPOILT: Final = 4
"""Every game ended, and some are spoilt."""
INTERRUPTED: Final = 130


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are run, so that ``--help`` stays quick."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = importlib.import_module(f"{__name__}.{_MODULES.get(name, name)}")
        # a command may be called by a word that Python keeps for itself
        command: click.Command = getattr(module, _MODULES[name] if keyword.iskeyword(name) else name)
        for subcommand in (command, *getattr(command, "commands", {}).values()):
            for option in subcommand.params:
                if isinstance(option, click.Option):
                    _name_environment(cmd_name, option)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            matches = difflib.get_close_matches(name.casefold(), COMMANDS, n=1)
            hint = f"; did you mean {matches[0]!r}?" if matches else ""
            ctx.fail(f"there is no command {name!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # one column for all groups
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in group.items()])


def _name_environment(command: str, option: click.Option) -> None:
    """Let ``WOLFBUS_COMMAND_OPTION`` set an option, by the name that users type, before any other variable it knows; in
    a group, that of all its commands.
    """
    longest = max(option.opts, key=len).lstrip("-").replace("-", "_")
    variable = f"WOLFBUS_{command.replace('-', '_')}_{longest}".upper()
    variables = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or ())
    if variable not in variables:
        option.envvar = [variable, *variables]


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="wolfbus")
def cli() -> None:
    """Play WOLF, the Werewolf benchmark of deception among language models, as independent actors on a message bus.

    \b
    wolfbus play                      a whole game in this process, no server needed
    wolfbus replay runs/GAME.ndjson   run the rules again over the record, print its metrics

    Every option can be set by an environment variable, such as WOLFBUS_PLAY_SEED=7.
    """  # noqa: D301 - click takes the backspace for "keep these lines"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line.

    Exits 0 fine, 1 failed, 2 usage or unreadable input, 3 halted, 4 spoilt, 130 interrupted.
    """
    if sys.flags.optimize > 1:
        # help and schema are made of docstrings, which Python leaves out then
        from wolfbus.service.child import module_words

        words = module_words("wolfbus", *(sys.argv[1:] if arguments is None else arguments))
        os.execve(sys.executable, words, {**os.environ, "PYTHONOPTIMIZE": "1"})  # noqa: S606 - no shell is wanted
    _reopen_standard_streams()
    if sys.stdout is None:
        # before anything is opened: the next file would get its number, and all that is printed
        click.echo("wolfbus: stdout is closed, so nothing could be told; send it to /dev/null to do without", err=True)
        sys.exit(FAILED)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal that lacks a character gets its code, not a crash
            stream.reconfigure(errors="backslashreplace")
    for number in end_signals():
        signal.signal(number, signal.default_int_handler)
    tune_garbage_collection()
    allow_many_files()
    sys.exit(_flush_standard_streams(run(arguments)))


def tune_garbage_collection() -> None:
    """Let the cyclic collector run less often: games make many short-lived values and few cycles (a sixth of all CPU),
    and what a command imports stays (a fifteenth of its start).
    """
    gc.set_threshold(50_000, 20, 20)


def _reopen_standard_streams() -> None:
    """Give a process that was started without stdin or stderr empty ones, which no file of ours can then take over."""
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def _flush_standard_streams(code: int) -> int:
    """Write what the streams still hold, and return the exit code, `FAILED` for 0 where stdout loses some of it.

    Python would do it after our last line, and end with 120 whatever the command came to. A stream that takes nothing
    gets the null device in its place, so that nothing is left to fail.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            if stream is sys.stdout and code == 0:
                code = FAILED
                _say(f"wolfbus: the output: {reason_of(error)}")
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
    return code


def _say(text: str, *, nl: bool = True) -> None:
    """Print on stderr; where that takes nothing, the exit code alone tells.

    It may quote words of a file that somebody else made, and a terminal would obey what stands in them.
    """
    with contextlib.suppress(OSError):
        click.echo(visible(masked(text), lines=True), err=True, nl=nl)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every expected error is one line on stderr."""
    try:
        clean_environment()
        result: Any = cli.main(args=arguments, prog_name="wolfbus", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        _say(error.format_message())
        return USAGE
    except click.ClickException as error:
        # it may quote a word that was an address
        message = io.StringIO()
        error.show(message)
        _say(message.getvalue(), nl=False)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("wolfbus: interrupted")
        return INTERRUPTED
    except (WolfError, OSError) as error:
        why = f"{error.filename or 'the output'}: {reason_of(error)}" if isinstance(error, OSError) else error
        _say(f"wolfbus: {why}")
        if isinstance(error, ModelHalted):
            return HALTED
        return USAGE if isinstance(error, ConfigError | RecordError) else FAILED
    except Exception as error:
        # one that comes while a class is made is the cause of another error, or only named in it, as by pydantic
        if not isinstance(error.__cause__, KeyboardInterrupt) and "KeyboardInterrupt" not in str(error):
            raise
        _say("wolfbus: interrupted")
        return INTERRUPTED
    return result if isinstance(result, int) else 0
