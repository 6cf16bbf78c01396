"""What somebody found who tried to break the client."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.service.serving import FRA, Running, running
from tests.service.test_http import refused

import tarry
from tarry.errors import JournalError
from tarry.service.keys import Keys, new_key

FEATURES: dict[str, Any] = {
    "device": ["phone", "desktop"],
    "size": tarry.numeric(missing=-9999),
    "age": tarry.numeric(log=True, curve=True),
    "rank": tarry.numeric(missing=0),
    "hour": tarry.cyclic(24),
    "plain": float,
}


@pytest.fixture(scope="module")
def here() -> Iterator[Running]:
    """One service for all tests that leave it alone."""
    with running() as service:
        yield service


def test_features_arrive_whole(here: Running) -> None:
    """What stands for a missing number is known at the service, and shown."""
    context = {"device": "phone", "size": -9999, "age": 3, "rank": 0, "hour": 5, "plain": 1.0}
    local = tarry.Agent(**FRA, features=FEATURES)
    with tarry.connect(here.address) as connection:
        agent = connection.agent("whole", **FRA, features=FEATURES)
        for each in (local, agent):
            each.ask(context)
            assert each.counts.features_missing == 2
            assert each.counts.features_unknown == 0
        connection.agent("whole", **FRA, features=FEATURES)
        other = {**FEATURES, "size": tarry.numeric(missing=-1)}
        with pytest.raises(JournalError, match="was made with features"):
            connection.agent("whole", **FRA, features=other)
    assert here.call("GET", "/v1/agents/whole").json()["features"] == {
        "device": {"values": ["phone", "desktop"]},
        "size": {"missing": -9999.0},
        "age": {"log": True, "curve": True},
        "rank": {"missing": 0.0},
        "hour": {"period": 24.0},
        "plain": {},
    }


def test_a_feature_is_of_one_kind(here: Running) -> None:
    """What would be lost without a word is refused."""
    for wrong in (
        {"log": True, "period": 3},
        {"period": 3, "missing": 1},
        {"values": ["a"], "curve": True},
        {"values": ["a"], "period": 3},
    ):
        answer = here.call("PUT", "/v1/agents/odd", {**FRA, "features": {"x": wrong}})
        refused(answer, 400, "of several kinds")
    document = here.call("GET", "/openapi.json").json()
    feature = document["components"]["schemas"]["Feature"]["properties"]
    assert "Seconds" not in str(feature["period"])
    assert "missing" in feature


def test_a_restart_takes_no_arms_away(here: Running) -> None:
    """Arms that came since stay with what is known of them; those that are missing come."""
    with tarry.connect(here.address) as connection:
        agent = connection.agent("again", **FRA)
        agent.add_arm("lon")
        agent.pause_arm("ams")
        for _ in range(6):
            agent.tell(agent.ask(), 0.1)
        before = {row.arm: row.plays for row in agent.explain().arms}
        assert connection.agent("again", **FRA).arms == ("fra", "ams", "lon")
        assert {row.arm: row.plays for row in agent.explain().arms} == before
        more = {**FRA, "arms": ["rom", "fra"]}
        assert connection.agent("again", **more).arms == ("fra", "ams", "lon", "rom")
        assert agent.paused == ("ams",)
    here.call("PUT", "/v1/agents/again", FRA)
    told = here.call("GET", "/v1/agents/again").json()
    assert [arm["name"] for arm in told["arms"]] == ["fra", "ams"]


def test_a_restart_has_limits(here: Running) -> None:
    """Arms that stay count for the number of arms that there may be."""
    many = [str(number) for number in range(1990)]
    here.call("PUT", "/v1/agents/many", {**FRA, "arms": many})
    more = [f"new {number}" for number in range(11)]
    answer = here.call("PUT", "/v1/agents/many", {**FRA, "arms": more, "keep": True})
    refused(answer, 409, "more than 2000 arms")


def test_a_decider_opens_what_has_more_arms() -> None:
    """A key that may not manage finds an agent with features, and with arms that came since."""
    secret, key = new_key("decide", "decide")
    boss, manage = new_key("manage", "manage")
    with running(keys=Keys([key, manage])) as service:
        with tarry.connect(service.address, key=boss) as connection:
            connection.agent("a", **FRA, features=FEATURES).add_arm("lon")
        with tarry.connect(service.address, key=secret) as connection:
            assert connection.agent("a", **FRA, features=FEATURES).ask().arm
            with pytest.raises(JournalError, match="the key may not change it"):
                connection.agent("a", **{**FRA, "arms": ["rom"]})
