"""Links in the pages at the root of the project; those in docs/ are checked when it is built."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    """Every relative link of a page at the root names a file that exists."""
    missing = [target for target in LINK.findall(page.read_text()) if not (ROOT / target).exists()]
    assert missing == []
