"""An agent through PgBouncer, where that is installed; the tests need none."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.live.postgres import (
    at_rest,
    differences,
    engine_of,
    evidence,
    new_name,
    opened,
    replica_of,
    server,
)

from tarry.live import Told

PROGRAM = shutil.which("pgbouncer")
pytestmark = [
    pytest.mark.xdist_group("postgres"),
    pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed"),
]


@contextmanager
def pooler(folder: Path, mode: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """PgBouncer before the server of the tests, with two connections for all: its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = folder / "pgbouncer.ini"
    users = folder / "users"
    users.write_text('"tarry" ""\n')
    settings.write_text(
        f"[databases]\npostgres = host={server().folder} dbname=postgres user=tarry\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = trust\nauth_file = {users}\npool_mode = {mode}\n"
        f"default_pool_size = {2 if mode == 'transaction' else 20}\n"
        f"ignore_startup_parameters = extra_float_digits\n"
    )
    more: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        more = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        for path in (folder, *folder.parents[:3]):  # the third is there with several processes
            path.chmod(path.stat().st_mode | 0o055)
    assert PROGRAM is not None
    process = subprocess.Popen([PROGRAM, "-q", str(settings)], **more)
    try:
        until = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < until:
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield f"postgresql://tarry@127.0.0.1:{port}/postgres", process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("mode", ["session", "transaction"])
def test_through_a_pooler(tmp_path: Path, mode: str) -> None:
    """More clients than connections, one of them directly: all know the same."""
    name = new_name()
    with pooler(tmp_path, mode) as (url, _):
        clients = [opened(name, url) for _ in range(3)]
        clients.append(opened(name))
        pooled = [
            engine_of(client).store.courier._db.prepare_threshold is None for client in clients
        ]
        assert pooled == [True, True, True, False]
        for k in range(60):
            play = clients[k % 4].ask()
            assert clients[(k + 1) % 4].tell(play, 0.1) is Told.RETURNED
        clients[0].add_arm("c")
        at_rest(*clients)
        right = evidence(replica_of(clients[0]))
        for client in clients[1:]:
            assert not differences(evidence(replica_of(client)), right)
            assert client.counts == (60, 60, 0, 0, 0, 0, 0)
            assert client.arms == ("a", "b", "c")
        for client in clients:
            client.close()
