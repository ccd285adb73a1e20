"""The command ``pairup``: one file per subcommand, loaded only when it is called."""

from importlib import import_module

import click

import pairup
from pairup.cli.shell import guarded

COMMANDS = ("album", "demo", "match", "paper", "voice")  # each is a module of this folder


class LazyGroup(click.Group):
    """A group that imports a subcommand when it is asked for, so that ``--help`` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the subcommands without importing them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one subcommand and return its ``command``."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"pairup.cli.{cmd_name}").command
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pairup.__version__, prog_name="pairup")
def pairup_command() -> None:
    """Pair up two unpaired sets."""


def main() -> None:
    """Run the command and exit: 0 done, 1 failed, 2 called wrongly, 130 interrupted."""
    guarded(pairup_command)
