"""`tarry serve` and `tarry key` as commands: what they say, and how they end."""

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from benchmarks.service_process import Serving
from tests.service.serving import FRA

from tarry.cli import main


def test_ends_in_good_order(tmp_path: Path) -> None:
    """SIGTERM: who watches is let go, requests are answered, the store is closed."""
    with Serving("--store", str(tmp_path / "routes.db"), "--log", "info") as serving:
        assert serving.call("PUT", "/v1/agents/routes", FRA)[0] == 201
        watching = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=20)
        watching.request("GET", "/v1/events?agent=routes")
        answer = watching.getresponse()
        assert answer.readline().startswith(b"event: view")
        statuses: list[int] = []
        over = threading.Event()

        def play() -> None:
            while not over.is_set():
                try:
                    statuses.append(serving.call("POST", "/v1/agents/routes/ask", {})[0])
                except OSError:
                    return

        threads = [threading.Thread(target=play) for _ in range(3)]
        for thread in threads:
            thread.start()
        while len(statuses) < 10:
            time.sleep(0.01)
        begun = time.monotonic()
        assert serving.end() == 0
        assert time.monotonic() - begun < 8
        over.set()
        for thread in threads:
            thread.join()
        answer.read()
        watching.close()
        assert set(statuses) == {200}
        lines = [json.loads(line) for line in serving.complaints().splitlines()]
        asked = [line for line in lines if line.get("operation") == "ask"]
        assert len(asked) >= len(statuses)
        assert {"time", "level", "ms", "status", "client", "path"} <= set(asked[0])
    assert not (tmp_path / "routes.db-wal").exists()
    with Serving("--store", str(tmp_path / "routes.db")) as serving:
        counts = serving.call("GET", "/v1/agents/routes")[1]["counts"]
        assert counts["asked"] >= len(statuses)


def test_what_it_says_at_the_start() -> None:
    """Where the dashboard is, that nothing is kept, and that everybody here may do everything."""
    command = [sys.executable, "-m", "tarry", "serve", "--port", "0"]
    plain = {name: x for name, x in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=plain) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(3)]
        process.terminate()
        assert process.wait(20) == 0
    assert said[0] == "Agents are in memory; nothing is kept when this ends.\n"
    assert said[1] == "No keys are set: everybody on this machine may do everything.\n"
    assert said[2].startswith("The dashboard is at http://127.0.0.1:")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "::"], "can be reached from elsewhere, and no keys are set"),
        (["--port", "99999"], "Nothing can be served at 127.0.0.1 port 99999"),
        (["--keys", "/nowhere/keys"], "The keys /nowhere/keys cannot be read"),
        (["--store", "postgresql://127.0.0.1:1/x"], "The database postgresql://127.0.0.1:1/x"),
        (["--store", "/proc/nothing"], "cannot be made"),
        (["--secret", "/nowhere/secret"], "The secret /nowhere/secret cannot be read"),
        (["--log", "loud"], "log is 'loud'"),
        (["--durability", "some"], "durability is 'some'"),
    ],
)
def test_refused(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, and no traceback."""
    assert main(["serve", *arguments]) in (1, 2)
    said = capsys.readouterr().err
    assert words in said
    assert said.startswith("tarry: ")
    assert said.count("\n") == 1


def test_keys_are_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A key is printed once; the file has its hash, its role and what it is for."""
    path = tmp_path / "keys"
    told = ["--origin", "https://shop.example", "--agent", "landing", "--name", "shop"]
    assert main(["key", "page", "--keys", str(path), *told]) == 0
    secret = capsys.readouterr().out.strip()
    line = json.loads(path.read_text())
    assert secret.startswith("tarry_")
    assert secret not in path.read_text()
    assert line["origins"] == ["https://shop.example"]
    assert line["agents"] == ["landing"]
    assert main(["key", "king", "--keys", str(path)]) == 2
    assert "manage, decide or page" in capsys.readouterr().err


def test_a_damaged_agent_is_said_and_left_alone(tmp_path: Path) -> None:
    """The others are served."""
    with Serving("--store", str(tmp_path)) as serving:
        for name in ("good", "bad"):
            serving.call("PUT", f"/v1/agents/{name}", FRA)
    (tmp_path / "bad.db").write_bytes(b"nonsense" * 1000)
    with Serving("--store", str(tmp_path)) as serving:
        assert "no journal of tarry" in serving.complaints()
        assert serving.call("POST", "/v1/agents/good/ask", {})[0] == 200
        status, said = serving.call("POST", "/v1/agents/bad/ask", {})
        assert status == 503
        assert "no journal of tarry" in said["detail"]
    assert (tmp_path / "bad.db").read_bytes() == b"nonsense" * 1000
