"""Kill a service under load again and again: `python -m benchmarks.service_kills`.

Threads ask, tell, fail and cancel over HTTP, each request with what makes it safe to repeat: an ask
has a key, an end counts once. The service gets `kill -9` at a random moment and is started again;
whatever was not answered is sent again. In the end

    every play that was acknowledged must be there, under its key, with its arm;
    every end that was acknowledged must be known, with its delay;
    there must be as many plays, answers, failures and cancellations as there were requests: nothing
    is lost, and nothing is there twice.

With --keep, store and acknowledgements are kept in a folder, and a later call goes on from there.
"""

import argparse
import contextlib
import http.client
import json
import random
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.service_process import Serving

NAME = "victim"
PATH = f"/v1/agents/{NAME}"
BODY = {"arms": ["a", "b", "c"], "payoff": "cost", "max_delay": 100_000.0}
THREADS = 4
MOST = 45_000  # plays, fewer than a service remembers


@dataclass
class Said:
    """What was acknowledged."""

    plays: dict[str, tuple[str, str]] = field(default_factory=dict)  # by key: id and arm
    ends: dict[str, tuple[str, float]] = field(default_factory=dict)  # by id: how, and the delay
    again: int = 0  # requests that were sent more than once
    kills: int = 0


class Load:
    """Threads that play, and go on after every kill."""

    def __init__(self, serving: Serving, seed: int, said: Said) -> None:
        self.serving = serving
        self.said = said
        self.over = False
        self.error: BaseException | None = None
        self._threads = [
            threading.Thread(target=self._live, args=(seed, k)) for k in range(THREADS)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> Said:
        """Let everybody finish what they are at."""
        self.over = True
        for thread in self._threads:
            thread.join(60)
        if self.error is not None:
            raise self.error
        return self.said

    def _live(self, seed: int, number: int) -> None:
        try:
            self._play(random.Random(f"{seed} {number}"), seed, number)
        except BaseException as error:  # noqa: BLE001  # said at the end
            self.error = error

    def _play(self, rng: random.Random, seed: int, number: int) -> None:
        with contextlib.closing(Line(self)) as line:
            self._play_on(line, rng, f"{seed} {number}")

    def _play_on(self, line: "Line", rng: random.Random, who: str) -> None:
        count = 0
        while not self.over and len(self.said.plays) < MOST:
            key = f"{who} {count}"
            count += 1
            told = line.send("/ask", {}, {"idempotency-key": key})
            self.said.plays[key] = told["play"], told["arm"]
            how = rng.choices(("tell", "fail", "cancel", ""), (6, 1, 2, 1))[0]
            if not how:
                continue
            body: dict[str, Any] = {"play": told["play"]}
            delay = round(rng.random(), 6)
            if how == "tell":
                body["delay"] = delay
            line.send(f"/{how}", body, {})
            self.said.ends[told["play"]] = how, delay


class Line:
    """A connection that is made anew whenever it breaks."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._open: http.client.HTTPConnection | None = None
        self._port = 0

    def send(self, path: str, body: Any, headers: dict[str, str]) -> Any:
        """A request, sent until it is answered."""
        text, attempt = json.dumps(body), 0
        while True:
            try:
                answer = self._once(path, text, headers)
            except (OSError, http.client.HTTPException):
                self.close()
                time.sleep(0.02)
            else:
                self._load.said.again += attempt > 0
                return answer
            attempt += 1

    def close(self) -> None:
        """Let go of it."""
        if self._open is not None:
            self._open.close()
        self._open = None

    def _once(self, path: str, text: str, headers: dict[str, str]) -> Any:
        port = self._load.serving.port
        if self._open is None or port != self._port:
            self.close()
            self._open = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            self._port = port
        told = {"content-type": "application/json", **headers}
        self._open.request("POST", PATH + path, text, told)
        answer = self._open.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            raise AssertionError(f"{path} {text}: {answer.status} {found}")
        return found


def check(serving: Serving, said: Said, *, of: int | None = None) -> None:
    """All that was acknowledged is there; of many, some."""
    plays, ends = list(said.plays.items()), list(said.ends.items())
    rng = random.Random(len(plays))
    if of is not None:
        plays = rng.sample(plays, min(of, len(plays)))
        ends = rng.sample(ends, min(of, len(ends)))
    for key, (play, arm) in plays:
        status, found = serving.call("POST", f"{PATH}/ask", {}, idempotency_key=key)
        assert (status, found["play"], found["arm"]) == (200, play, arm), (key, play, arm, found)
    for play, (how, delay) in ends:
        if how == "cancel":
            continue
        body = {"play": play, "delay": delay} if how == "tell" else {"play": play}
        status, found = serving.call("POST", f"{PATH}/{how}", body)
        assert (status, found) == (200, {"told": "repeated"}), (play, how, delay, found)


def recount(serving: Serving, said: Said) -> None:
    """Nothing is lost, and nothing is there twice."""
    counts = serving.call("GET", PATH)[1]["counts"]
    how = [way for way, _ in said.ends.values()]
    wanted = {
        "asked": len(said.plays),
        "returned": how.count("tell") + how.count("fail"),
        "failed": how.count("fail"),
        "cancelled": how.count("cancel"),
        "late": 0,
        "closed": 0,
    }
    assert {name: counts[name] for name in wanted} == wanted, (counts, wanted)


def kill(store: str, times: int, said: Said, *, report: int = 0) -> Said:
    """So many more kills of a service on one store; what was acknowledged in all."""
    seed = said.kills
    rng = random.Random(seed)
    serving = Serving("--store", store, "--rate", "0", TARRY_COMPILE="never")
    status, answer = serving.call("PUT", PATH, BODY)
    assert status in (200, 201), answer
    load = Load(serving, seed, said)
    try:
        for number in range(1, times + 1):
            goal = len(load.said.plays) + rng.randrange(1, 60)
            until = time.monotonic() + 30
            while len(load.said.plays) < goal and time.monotonic() < until and not load.error:
                time.sleep(0.005)
            time.sleep(rng.random() * 0.02)
            serving.kill()
            serving = Serving("--store", store, "--rate", "0", TARRY_COMPILE="never")
            load.serving = serving
            check(serving, Said(dict(load.said.plays), dict(load.said.ends)), of=5)
            said.kills += 1
            if report and number % report == 0:
                print(f"{said.kills} kills, {len(said.plays)} plays so far", flush=True)
    finally:
        load.end()
    try:
        check(serving, said)
        recount(serving, said)
    finally:
        serving.end()
    return said


def main() -> int:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200, help="in this call")
    parser.add_argument("--keep", metavar="FOLDER", help="go on from what is there")
    parser.add_argument("--database", action="store_true", help="in a PostgreSQL server")
    options = parser.parse_args()
    begun, said = time.monotonic(), Said()
    if options.database:
        from tarry.demo.database import Database

        with Database() as database:
            kill(database.url, options.kills, said, report=20)
    elif options.keep:
        folder = Path(options.keep)
        folder.mkdir(exist_ok=True)
        kept = folder / "said.json"
        if kept.exists():
            said = Said(**json.loads(kept.read_text()))
        kill(str(folder / "agents"), options.kills, said, report=20)
        kept.write_text(json.dumps(asdict(said)))
    else:
        with tempfile.TemporaryDirectory(dir=".") as name:
            kill(f"{name}/agents", options.kills, said, report=20)
    print(
        f"{said.kills} kills, {time.monotonic() - begun:.0f} s: {len(said.plays)} plays and "
        f"{len(said.ends)} ends acknowledged, {said.again} requests sent again; none is lost, none "
        f"is there twice."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
