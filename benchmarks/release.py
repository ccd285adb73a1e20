"""Compare a tag with the version of the package, of CITATION.cff and of the changelog, before a release is built."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def find_faults(tag, root=ROOT):
    """Return what contradicts a release under this tag, a sentence each."""
    module = (root / "src" / "pairup" / "__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"$', module, re.MULTILINE)[1]
    faults = []
    if tag != f"v{version}":
        faults.append(f"the tag is {tag}, and src/pairup/__init__.py says {version}; expected v{version}")
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        faults.append(f"{version} is a version for development; expected one such as 0.1.0 or 0.1.0rc1")
    if f"version: {version}\n" not in (root / "CITATION.cff").read_text(encoding="utf-8"):
        faults.append(f"CITATION.cff does not say version: {version}")
    heading = re.search(r"^## \[(.+?)\] – (.+)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if heading is None or heading[1] != version or not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[2]):
        faults.append(f"the first heading of CHANGELOG.md is not: ## [{version}] – YEAR-MONTH-DAY")
    return faults


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("expected one argument, the tag, such as v0.1.0")
    if told := find_faults(sys.argv[1]):
        sys.exit("\n".join(told))
    print(f"{sys.argv[1]} is told everywhere")
