import json

from click.testing import CliRunner

import pairup
from pairup.cli import pairup_command


def test_doctor_prints_lines_or_json():
    text = CliRunner().invoke(pairup_command, ["doctor"]).stdout
    assert pairup.__version__ in text.splitlines()[0]
    assert [line.split()[0] for line in text.splitlines() if not line.startswith("[")] == [
        "pairup", "Python", "packages", "cores", "memory", "cache",
    ]  # fmt: skip
    answer = json.loads(CliRunner().invoke(pairup_command, ["doctor", "--json"]).stdout)
    assert answer["pairup"] == pairup.__version__
    assert set(answer) >= {"python", "system", "packages", "extras", "cores", "memory", "cache"}
