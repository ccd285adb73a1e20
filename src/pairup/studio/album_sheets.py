"""The sheets of tiles that are drawn for an album: their names say what is on them."""

import re
from pathlib import Path
from typing import Literal

from pairup.studio.models import Record

SHEETS = "sheets"  # their folder in a project
NAME = re.compile(r"(\d+)-(crop|whole)-(\d+)-(\d+)\.jpg")


class Sheet(Record):
    """A sheet: tiles of `level` pixels, `count` of them, from photo `index` × (tiles of a full sheet) on."""

    level: int
    fit: Literal["crop", "whole"]
    index: int
    count: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.level}-{self.fit}-{self.index}-{self.count}.jpg"


def list_sheets(folder: Path) -> list[Sheet]:
    """List the sheets that are drawn.

    Parameters
    ----------
    folder : Path
        Folder of the project.

    Returns
    -------
    list of Sheet
        By level, fit and index.
    """
    found = [NAME.fullmatch(path.name) for path in (folder / SHEETS).glob("*.jpg")]  # not those being written
    sheets = [
        Sheet(level=int(name[1]), fit="crop" if name[2] == "crop" else "whole", index=int(name[3]), count=int(name[4]))
        for name in found
        if name is not None
    ]
    return sorted(sheets, key=lambda sheet: (sheet.level, sheet.fit, sheet.index))
