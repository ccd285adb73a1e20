"""The command ``pairup``: one file per subcommand, loaded only when it is called."""

from importlib import import_module

import click

import pairup

COMMANDS = ("album", "demo", "match", "paper", "studio", "voice")  # each is a module of this folder


class LazyGroup(click.Group):
    """A group that imports a subcommand when it is called, so that ``--help`` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands without importing them.

        Parameters
        ----------
        ctx : click.Context
            Ignored.

        Returns
        -------
        list of str
            The names.
        """
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one subcommand and return its ``command``.

        Parameters
        ----------
        ctx : click.Context
            Ignored.
        cmd_name : str
            Name of the subcommand.

        Returns
        -------
        click.Command or None
            The command; None if there is none of that name.
        """
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"pairup.cli.{cmd_name}").command
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pairup.__version__, prog_name="pairup")
def pairup_command() -> None:
    """Pair up two unpaired sets."""
