"""The command ``pairup``: one file per subcommand, loaded only when it is called."""

from importlib import import_module

import click

import pairup
from pairup.cli.shell import show_help

COMMANDS = {  # each is a module of this folder; the lines are those of pairup --help
    "album": "Arrange photos in a frame, similar ones side by side.",
    "demo": "Put shredded pictures together, make an album.",
    "doctor": "Tell versions, extras, cores, memory and cache.",
    "match": "Pair up the rows of two tables.",
    "paper": "Run the paper's experiments and report them.",
    "studio": "Pair and arrange in the browser, live.",
    "voice": "Convert one voice into another.",
}


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the line of each subcommand, whole and without importing it.

        Parameters
        ----------
        ctx : click.Context
            Ignored.
        formatter : click.HelpFormatter
            What the help is written to.
        """
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

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


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pairup.__version__, prog_name="pairup")
@click.pass_context
def pairup_command(ctx: click.Context) -> None:
    """Pair up two unpaired sets.

    \b
    Examples:
      pairup demo
      pairup match x.csv y.csv -o pairs.csv
    """
    show_help(ctx)
