"""``pairup doctor``: what pairup runs on, for a look when something does not work, and for reports of faults."""

import json

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """Tell versions, extras with the line that installs a missing one, cores, memory and the cache.

    \b
    Examples:
      pairup doctor
      pairup doctor --json
    """
    from pairup.installation import describe, examine

    found = examine()
    click.echo(json.dumps(found) if as_json else describe(found))
