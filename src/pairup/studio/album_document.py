"""The document of an album, the actions that change it, and the jobs it has."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from pairup.studio.models import Identifier, Record

MOST_PHOTOS = 5000  # of an album
MOST_CELLS = 20_000  # of a frame
LEVELS = (40, 128, 256)  # pixels of the tiles on sheets

Number = Annotated[int, Field(ge=0, lt=MOST_CELLS)]
Numbers = Annotated[list[Number], Field(min_length=1, max_length=MOST_PHOTOS)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, le=5, allow_inf_nan=False)]
Cell = Annotated[list[Annotated[int, Field(ge=0, lt=MOST_CELLS)]], Field(min_length=2, max_length=2)]
Cells = Annotated[list[Cell], Field(max_length=MOST_CELLS)]
Order = Annotated[list[Annotated[int, Field(ge=-1, lt=MOST_CELLS)]], Field(max_length=MOST_CELLS)]
Level = Literal[40, 128, 256]
Fit = Literal["crop", "whole"]


class AutoFrame(Record):
    """A rectangle for as many photos as there are."""

    kind: Literal["auto"] = "auto"
    aspect: float = Field(default=1.5, ge=0.1, le=10, allow_inf_nan=False)


class GridFrame(Record):
    """A rectangle of a given size."""

    kind: Literal["grid"]
    rows: int = Field(ge=1, le=1000)
    columns: int = Field(ge=1, le=1000)

    @model_validator(mode="after")
    def _bound(self) -> Self:
        if self.rows * self.columns > MOST_CELLS:
            raise ValueError(f"a frame has {MOST_CELLS:,} cells at most; choose fewer rows or columns")
        return self


class TextFrame(Record):
    """Letters."""

    kind: Literal["text"]
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=24)]


class ShapeFrame(Record):
    """One of the shapes."""

    kind: Literal["shape"]
    name: Literal["circle", "heart", "ring", "smiley", "star"]


class DrawingFrame(Record):
    """One of the paper's frames."""

    kind: Literal["paper"]
    name: Literal["mountain", "smiley", "777"]


class MaskFrame(Record):
    """The dark part of a picture that was uploaded."""

    kind: Literal["mask"]
    file: Identifier


class PaintedFrame(Record):
    """Cells painted by hand: a line for each row, # for a cell."""

    kind: Literal["cells"]
    lines: Annotated[
        list[Annotated[str, StringConstraints(pattern=r"^[#.]*$", max_length=100)]], Field(min_length=1, max_length=100)
    ]

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not any("#" in line for line in self.lines):
            raise ValueError("no cell is painted; paint one at least")
        return self


Frame = Annotated[
    AutoFrame | GridFrame | TextFrame | ShapeFrame | DrawingFrame | MaskFrame | PaintedFrame,
    Field(discriminator="kind"),
]


class Style(Record):
    """How the album looks."""

    gap: Share = 0.04
    radius: float = Field(default=0, ge=0, le=0.5, allow_inf_nan=False)
    background: Annotated[str, StringConstraints(pattern=r"^(#[0-9a-f]{6}|transparent)$")] = "#ffffff"
    fit: Fit = "crop"


class Weights(Record):
    """What makes photos alike."""

    colour: Weight = 1
    edges: Weight = 0.5
    date: Weight = 0
    pixels: Weight = 0  # Lab values, as in the paper
    vectors: Weight = 0  # of the person's own, in `file`
    file: Identifier | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.vectors > 0 and self.file is None:
            raise ValueError("your own features have a weight but no file; upload it first")
        if self.colour + self.edges + self.date + self.pixels + self.vectors == 0:
            raise ValueError("all weights are 0; give colour, edges or date a weight")
        return self


class Quality(Record):
    """How well similar photos lie together; 1 and `random` are those of a random order."""

    likeness: float
    dpq: float
    random: float
    kept: float


class Document(Record):
    """An album: photos are named by their numbers, which never change."""

    photos: list[int] = Field(default_factory=list)
    removed: list[int] = Field(default_factory=list)
    rotations: dict[int, int] = Field(default_factory=dict)
    frame: Frame = Field(default_factory=AutoFrame)
    cells: list[list[int]] = Field(default_factory=list)
    order: list[int] = Field(default_factory=list)
    left_out: list[int] = Field(default_factory=list)
    pins: list[int] = Field(default_factory=list)
    moved: list[int] = Field(default_factory=list)
    arranged: bool = True
    style: Style = Field(default_factory=Style)
    weights: Weights = Field(default_factory=Weights)
    quality: Quality | None = None


class Swap(Record):
    """Swap what lies on two cells."""

    type: Literal["swap"]
    first: Number
    second: Number


class Move(Record):
    """Put a photo on a cell; what lay there takes its place."""

    type: Literal["move"]
    photo: Number
    cell: Number


class Pin(Record):
    """Pin photos where they are, or let them go."""

    type: Literal["pin"]
    photos: Numbers
    pinned: bool


class Remove(Record):
    """Take photos out of the album."""

    type: Literal["remove"]
    photos: Numbers


class Restore(Record):
    """Put removed photos back."""

    type: Literal["restore"]
    photos: Numbers


class Rotate(Record):
    """Turn photos clockwise."""

    type: Literal["rotate"]
    photos: Numbers
    quarters: int = Field(default=1, ge=1, le=3)


class ChooseFrame(Record):
    """Choose another frame; the photos get their places in it by the job "arrange"."""

    type: Literal["frame"]
    frame: Frame


class SetStyle(Record):
    """Change the look."""

    type: Literal["style"]
    style: Style


class SetWeights(Record):
    """Change what makes photos alike."""

    type: Literal["weights"]
    weights: Weights


class Keep(Record):
    """Keep a step of a job that was stopped."""

    type: Literal["keep"]
    cells: Cells
    order: Order


Action = Annotated[
    Swap | Move | Pin | Remove | Restore | Rotate | ChooseFrame | SetStyle | SetWeights | Keep,
    Field(discriminator="type"),
]


class Read(Record):
    """Read the photos that were added."""

    task: Literal["read"]


class Arrange(Record):
    """Arrange the photos: all but pinned ones, or all but those and what was moved by hand."""

    task: Literal["arrange"]
    keep_moved: bool = False
    seed: int = Field(default=0, ge=0, le=1_000_000)


class Tiles(Record):
    """Draw the sheets of a size that are missing."""

    task: Literal["tiles"]
    level: Level
    fit: Fit = "crop"


class Export(Record):
    """Write the album to a file."""

    task: Literal["export"]
    format: Literal["png", "jpg", "pdf", "svg", "html", "json", "csv"]
    cell: int | None = Field(default=None, ge=8, le=2000)
    paper: Literal["a0", "a1", "a2", "a3", "a4", "a5", "a6", "letter", "legal", "tabloid"] | None = None
    dpi: int = Field(default=300, ge=10, le=1200)


Job = Annotated[Read | Arrange | Tiles | Export, Field(discriminator="task")]
