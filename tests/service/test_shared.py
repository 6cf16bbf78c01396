"""Several services over one database are one service."""

import pytest
from tests.live.postgres import new_database, new_name, opened, rows
from tests.service.serving import FRA, running
from tests.service.test_access import PAGE, Door

from tarry.service.agents import RESTS
from tarry.service.shelves import CONNECTIONS

pytestmark = pytest.mark.xdist_group("postgres")


def test_two_are_one() -> None:
    """Agents, plays, keys of requests and tokens of one are those of the other."""
    name, page = new_name(), new_name()
    url = new_database()
    with running(url) as first, running(url) as second:
        path = f"/v1/agents/{name}"
        assert second.call("GET", path).status_code == 404
        assert first.call("PUT", path, FRA).status_code == 201
        assert first.call("PUT", f"/v1/agents/{page}", PAGE).status_code == 201
        play = first.ask(name, idempotency_key="k")
        again = second.call("PUT", path, FRA)
        assert again.status_code == 200
        assert second.ask(name, idempotency_key="k")["play"] == play["play"]
        body = {"play": play["play"], "delay": 0.25}
        assert second.call("POST", f"{path}/tell", body).json() == {"told": "returned"}
        assert first.call("POST", f"{path}/tell", body).json() == {"told": "repeated"}
        for wrong in ("7", str((15 << 34) + 1), str(2**62)):
            assert second.call("POST", f"{path}/tell", {"play": wrong}).status_code == 404
        assert name in second.call("GET", "/v1/agents").json()["agents"]
        token = Door(first, {}).page("ask", first.address, agent=page).json()["token"]
        alive = Door(second, {}).page("alive", first.address, token=token, seconds=2.0)
        assert alive.status_code == 204
        end = Door(first, {}).page("end", first.address, token=token, seconds=3.0)
        assert end.status_code == 204
        both = [each.call("PUT", path, {**FRA, "arms": ["fra", "lon"]}) for each in (first, second)]
        assert [answer.status_code for answer in both] == [200, 200]
        for each in (first, second):
            arms = each.call("GET", path).json()["arms"]
            assert {arm["name"] for arm in arms} == {"fra", "lon"}
        assert "NUL" not in first.call("GET", "/v1/agents/x%00y").text


def test_an_agent_that_does_not_say_what_it_is_is_left_alone() -> None:
    """Whoever wrote it; the others are served."""
    name, odd, url = new_name(), new_name(), new_database()
    opened(new_name(), url).close()  # so that there are tables
    rows("INSERT INTO tarry.agent (name, settings, created) VALUES (%s, '{}', 0)", odd, url=url)
    with running(url) as here:
        assert here.call("PUT", f"/v1/agents/{name}", FRA).status_code == 201
        answer = here.call("POST", f"/v1/agents/{odd}/ask", {})
        assert answer.status_code == 503
        assert "does not say its policy" in answer.text


def test_many_agents_do_not_use_up_the_connections_of_the_database() -> None:
    """Some are opened at the start, the others when they are needed."""
    url = new_database()
    names = [f"agent {number:02}" for number in range(CONNECTIONS + 4)]
    for name in names:
        opened(name, url).close()
    taken = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    with running(url) as here:
        ((before,),) = rows(taken, url=url)
        assert before <= CONNECTIONS + 1  # one is ours
        assert here.call("GET", "/v1/agents").json()["agents"] == names
        here.ask(names[-1])
        ((after,),) = rows(taken, url=url)
        assert after == before + 1


def test_agents_that_nobody_uses_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one unused for longest first, not before its time, and it is there when asked for."""
    url = new_database()
    with running(url) as here:
        agents = here.service.agents
        monkeypatch.setattr(agents.shelf, "at_once", 1)
        for name in ("old", "older", "new"):
            assert here.call("PUT", f"/v1/agents/{name}", FRA).status_code == 201
        play = here.ask("older")
        assert agents.let_rest() == []
        assert len(agents.open) == 3
        agents.open["older"].used_at -= RESTS + 2
        agents.open["old"].used_at -= RESTS + 1
        monkeypatch.setattr("tarry.service.agents.GRACE", 0.0)
        over = agents.let_rest()
        assert [served.name for served in over] == ["older", "old"]
        assert list(agents.open) == ["new"]
        for served in over:
            served.close()
        body = {"play": play["play"], "delay": 0.5}
        answer = here.call("POST", "/v1/agents/older/tell", body)
        assert answer.json() == {"told": "returned"}
