"""Two processes over one PostgreSQL behind a real nginx: `python -m benchmarks.service_balanced`.

Threads play through the balancer with `tarry.connect`, in turn with pages. Meanwhile one process is
killed and started again, and then the other is asked to end and started again. In the end both must
count the same, and as many plays and answers as the clients do; a play asked of one process may be
told to the other, a key is known to both, and so is the token of a page.
"""

import argparse
import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx

import tarry
from benchmarks.service_process import Serving
from tarry.demo.database import Database
from tarry.errors import TarryError
from tarry.live import Told

CONFIG = Path(__file__).parents[1] / "docs" / "service-nginx.conf"
ROUTES: dict[str, Any] = {"arms": ["a", "b", "c"], "payoff": "cost", "max_delay": 5000.0}
LANDING: dict[str, Any] = {
    "arms": ["quiz", "essay"],
    "payoff": "reward",
    "max_delay": 3000.0,
    "lease": 1000.0,
}


class Balancer:
    """An nginx with the configuration of the documentation, at other ports."""

    def __init__(self, folder: Path, ports: list[int]) -> None:
        program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
        if program is None:
            raise SystemExit(
                "There is no nginx here; install it, with 'apt-get install nginx', say."
            )
        self.port = free_port()
        text = CONFIG.read_text()
        for there, here in zip(("8090", "8091", "8092"), (self.port, *ports), strict=True):
            text = text.replace(f"127.0.0.1:{there}", f"127.0.0.1:{here}")
        text = text.replace("pid nginx.pid;", f"pid {folder}/nginx.pid;\ndaemon off;")
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
            text = text.replace("http {", f"http {{\n    {kind}_temp_path {folder}/{kind};", 1)
        (folder / "nginx.conf").write_text(text)
        command = [program, "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]
        with (folder / "nginx.log").open("wb") as log:
            self.process = subprocess.Popen(command, stderr=log)
        self.address = f"http://127.0.0.1:{self.port}"

    def end(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait(10)


def free_port() -> int:
    """One that nobody listens to."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Players:
    """Threads that play through the balancer."""

    def __init__(self, address: str, key: str, page_key: str, threads: int) -> None:
        self.address, self.key, self.page_key = address, key, page_key
        self.over = False
        self.plays: list[tuple[str, int, str]] = []  # key, id, arm
        self.told = self.ended = self.visits = self.again = 0
        self.times: list[float] = []
        self.errors: list[BaseException] = []
        self.lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(k,)) for k in range(threads)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Let all of them finish."""
        self.over = True
        for thread in self._threads:
            thread.join(60)
        if self.errors:
            raise self.errors[0]

    def _run(self, number: int) -> None:
        try:
            self._live(number)
        except (TarryError, httpx.HTTPError, AssertionError) as error:
            self.errors.append(error)

    def _live(self, number: int) -> None:
        rng = random.Random(number)
        count = 0
        with tarry.connect(self.address, key=self.key, patience=30.0) as connection:
            agent = connection.agent("routes")
            while not self.over:
                key = f"{number} {count}"
                count += 1
                begun = time.perf_counter()
                play = agent.ask(key=key)
                taken = time.perf_counter() - begun
                told = agent.tell(play, round(rng.random(), 6))
                assert told in (Told.RETURNED, Told.REPEATED), told
                with self.lock:
                    self.plays.append((key, play.id, play.arm))
                    self.told += 1
                    self.times.append(taken)
                if self.page_key and count % 10 == 0:
                    self._visit()

    def _visit(self) -> None:
        """A page asks, and a beacon ends it; what is lost is sent again."""
        token = self._page("ask", key=self.page_key, agent="landing").json()["token"]
        self._page("alive", token=token, seconds=1.0)
        self._page("end", token=token, seconds=2.0)
        with self.lock:
            self.ended += 1

    def _page(self, what: str, **body: Any) -> httpx.Response:
        headers = {"origin": "https://shop.example", "content-type": "text/plain"}
        for _ in range(100):
            try:
                answer = httpx.post(
                    f"{self.address}/v1/page/{what}", content=json.dumps(body), headers=headers
                )
                if answer.status_code < 500:
                    assert answer.is_success, answer.text
                    if what == "ask":
                        with self.lock:
                            self.visits += 1
                    return answer
            except httpx.HTTPError:
                pass
            with self.lock:
                self.again += 1
            time.sleep(0.1)
        raise AssertionError(f"/v1/page/{what} is not answered")


def key_of(role: str, path: Path, *more: str) -> str:
    """A new key in the file."""
    command = [sys.executable, "-m", "tarry", "key", role, "--keys", str(path), *more]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def check_both(servings: list[Serving], key: str, players: Players) -> None:
    """Both processes know the same, and all of it."""
    bearer = f"Bearer {key}"
    counts: list[Any] = []
    for _ in range(100):
        counts = [
            serving.call("GET", "/v1/agents/routes", authorization=bearer)[1]["counts"]
            for serving in servings
        ]
        names = ("asked", "returned", "pending", "closed", "cancelled", "late", "failed")
        seen = [{name: each[name] for name in names} for each in counts]
        if seen[0] == seen[1] and seen[0]["returned"] == players.told:
            break
        time.sleep(0.05)
    assert seen[0] == seen[1], seen
    assert seen[0]["asked"] == seen[0]["returned"] == len(players.plays) == players.told, seen[0]
    reports = [
        serving.call("GET", "/v1/agents/routes/explain", authorization=bearer)[1]["arms"]
        for serving in servings
    ]
    assert reports[0] == reports[1]
    for number, (name, play, arm) in enumerate(random.sample(players.plays, 50)):
        told = {"authorization": bearer, "idempotency_key": name}
        status, found = servings[number % 2].call("POST", "/v1/agents/routes/ask", {}, **told)
        assert (status, int(found["play"]), found["arm"]) == (200, play, arm)


def watch(address: str, key: str) -> float:
    """How long it takes through the balancer until the first event is there."""
    begun = time.perf_counter()
    headers = {"authorization": f"Bearer {key}"}
    url = f"{address}/v1/events?agent=routes"
    with httpx.stream("GET", url, headers=headers, timeout=20) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: "):
                return time.perf_counter() - begun
    raise AssertionError("no event came")


def run(seconds: float, threads: int, *, pages: bool = True) -> None:
    """All of it."""
    with tempfile.TemporaryDirectory() as name, Database() as database:
        folder = Path(name)
        folder.chmod(0o755)
        keys = folder / "keys"
        key = key_of("manage", keys)
        page = key_of("page", keys, "--origin", "https://shop.example", "--agent", "landing")
        told = ["--store", database.url, "--keys", str(keys), "--behind", "127.0.0.1"]
        told += ["--page-rate", "0"]
        ports = [free_port(), free_port()]
        servings = [Serving(*told, port=port) for port in ports]
        balancer = Balancer(folder, ports)
        try:
            time.sleep(0.5)
            with tarry.connect(balancer.address, key=key) as connection:
                connection.agent("routes", **ROUTES)
                if pages:
                    connection.agent("landing", **LANDING)
            players = Players(balancer.address, key, page if pages else "", threads)
            begun = time.monotonic()
            time.sleep(seconds / 3)
            print(f"first event after {watch(balancer.address, key):.2f} s", flush=True)
            servings[0].kill()
            time.sleep(1.0)
            servings[0] = Serving(*told, port=ports[0])
            print(f"one process killed and started again: {len(players.plays)} plays", flush=True)
            time.sleep(seconds / 3)
            ending = time.monotonic()
            assert servings[1].end() == 0
            print(f"the other ended in {time.monotonic() - ending:.1f} s", flush=True)
            servings[1] = Serving(*told, port=ports[1])
            print(f"and started again: {len(players.plays)} plays", flush=True)
            time.sleep(seconds / 3)
            players.end()
            taken = time.monotonic() - begun
            check_both(servings, key, players)
            if pages:
                bearer = f"Bearer {key}"
                found = servings[0].call("GET", "/v1/agents/landing", authorization=bearer)[1]
                assert found["counts"]["returned"] == players.ended, found["counts"]
            times = sorted(players.times)
            half, most = (times[int(q * (len(times) - 1))] * 1e3 for q in (0.5, 0.99))
            print(
                f"{len(players.plays)} plays and {players.ended} visits in {taken:.0f} s by "
                f"{threads} clients through nginx; an ask takes {half:.1f} ms (median), "
                f"{most:.0f} ms (99 %); both processes count the same, none is lost or doubled."
            )
        finally:
            balancer.end()
            for serving in servings:
                serving.end()


def main() -> int:
    """From the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--without-pages", action="store_true")
    options = parser.parse_args()
    run(options.seconds, options.threads, pages=not options.without_pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
