"""Visitors with real dwell laws and lost ends, through the page interface, in virtual time."""

import asyncio

import numpy as np
import pytest
from benchmarks.view_coverage import visited

from tarry.service import visitors


def test_a_hundred_visitors_with_lost_ends() -> None:
    """The right content is named, and the intervals hold the truth."""
    doc = visited(seed=1, count=900)
    truth = {name: law.mean(visitors.MAX_DELAY) for name, law in visitors.CONTENTS.items()}
    assert doc["leader"] == max(truth, key=truth.__getitem__) == "quiz"
    assert doc["sure"] > 0.8
    for arm in doc["arms"]:
        assert arm["low"] < truth[arm["name"]] < arm["high"], arm["name"]
    assert doc["out"] == 0
    assert 0.1 < doc["vanished"] / doc["plays"] < 0.3
    assert 0 < doc["void"] < 50
    assert doc["alarms"] == []


def test_the_mean_of_a_content_is_that_of_its_draws() -> None:
    """The formulas agree with the draws."""
    rng = np.random.default_rng(2)
    for law in visitors.CONTENTS.values():
        drawn = np.minimum([law.draw(rng) for _ in range(20_000)], 60.0)
        assert law.mean(60.0) == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 141.0)


def test_visitors_of_a_service_that_is_away() -> None:
    """They shrug; when it is over they are gone."""

    async def come() -> None:
        over = asyncio.Event()
        task = asyncio.ensure_future(visitors.visit("http://127.0.0.1:9", over))
        await asyncio.sleep(0.1)
        over.set()
        await asyncio.wait_for(task, 5.0)

    asyncio.run(come())
