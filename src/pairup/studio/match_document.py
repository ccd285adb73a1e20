"""The document of a match, and the actions and jobs that change it."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pairup.studio.models import Identifier, Record

MOST_COLUMNS = 1000  # whose kinds can be chosen
MOST_JUDGED = 20_000  # pairs that are confirmed or rejected
SIDES = ("x", "y")
LOOKS = "looks"  # folders in that of the project
RESULTS = "results"

Label = Annotated[str, StringConstraints(max_length=500)]
RowNumber = Annotated[int, Field(ge=0, le=10_000_000)]
Pair = tuple[RowNumber, RowNumber]
Side = Literal["x", "y"]
ColumnKind = Literal["number", "category", "text", "date", "boolean", "id"]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Judged = Annotated[list[Pair], Field(max_length=MOST_JUDGED)]


class Source(Record):
    """One of the two files, and how it is read; None leaves it to the reader."""

    file: Identifier | None = None
    header: bool | None = None
    id_column: Label | None = None  # "none": the rows have no names
    kinds: dict[Label, ColumnKind] = Field(default_factory=dict, max_length=MOST_COLUMNS)
    drop: list[Label] = Field(default_factory=list, max_length=MOST_COLUMNS)


class Settings(Record):
    """All that an answer depends on, but for the pairs that are confirmed or rejected."""

    x: Source = Field(default_factory=Source)
    y: Source = Field(default_factory=Source)
    form: Literal["auto", "tables", "graphs"] = "auto"
    directed: bool = False
    method: Literal["auto", "lsom", "ks-hsic", "ks-nocco", "ks-mi"] = "auto"
    metric: Literal["auto", "euclidean", "cosine", "precomputed"] = "auto"
    overlap: Literal["auto"] | Share = 1.0
    on: Literal["auto", "none"] = "auto"


class Answer(Record):
    """What was found; the pairs themselves are in the folder of its id."""

    id: Identifier
    settings: Settings
    anchors: Judged = Field(default_factory=list)
    forbidden: Judged = Field(default_factory=list)
    rows: Pair
    pairs: RowNumber
    graphs: bool = False
    tone: Literal["good", "warn", "bad"]
    verdict: str
    reliability: Number | None = None
    report: str = ""
    histogram: list[RowNumber] = Field(default_factory=list)
    uncertain: RowNumber | None = None
    previous: Identifier | None = None
    changed: RowNumber | None = None
    downloads: list[str] = Field(default_factory=list)


class Document(Record):
    """What a project holds."""

    settings: Settings = Field(default_factory=Settings)
    look: Identifier | None = None
    anchors: Judged = Field(default_factory=list)
    forbidden: Judged = Field(default_factory=list)
    answer: Answer | None = None
    begins: bool = False  # whether the first matching starts by itself


class Choose(Record):
    """Take a file for one side."""

    type: Literal["choose"]
    side: Side
    file: Identifier


class Read(Record):
    """Read a file in another way."""

    type: Literal["read"]
    side: Side
    header: bool | None = None
    id_column: Label | None = None
    kinds: dict[Label, ColumnKind] = Field(default_factory=dict, max_length=MOST_COLUMNS)
    drop: list[Label] = Field(default_factory=list, max_length=MOST_COLUMNS)


class SetOptions(Record):
    """Match in another way."""

    type: Literal["options"]
    form: Literal["auto", "tables", "graphs"] | None = None
    directed: bool | None = None
    method: Literal["auto", "lsom", "ks-hsic", "ks-nocco", "ks-mi"] | None = None
    metric: Literal["auto", "euclidean", "cosine", "precomputed"] | None = None
    overlap: Literal["auto"] | Share | None = None
    on: Literal["auto", "none"] | None = None


class Judge(Record):
    """Confirm or reject a pair, or take that back."""

    type: Literal["judge"]
    x: RowNumber
    y: RowNumber
    as_: Literal["confirmed", "rejected", "open"] = Field(alias="as")


class Forget(Record):
    """Take back everything that was confirmed and rejected."""

    type: Literal["forget"]


class Look(Record):
    """Read the files and tell what is in them."""

    task: Literal["look"]


class Run(Record):
    """Match."""

    task: Literal["run"]
    first: bool = False  # started by the page, which may be open twice


Action = Annotated[Choose | Read | SetOptions | Judge | Forget, Field(discriminator="type")]
Job = Annotated[Look | Run, Field(discriminator="task")]
