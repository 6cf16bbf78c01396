"""The figure at the end of `tarry demo routes`: latencies, and where the requests went."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.drawing import new_figure, save_figure, styled
from tarry.palette import GREY, INK, PALETTE

WINDOW = 50  # requests that a share is taken over


def plot_routes(
    path: str | os.PathLike[str],
    *,
    lines: Mapping[str, tuple[FloatArray, FloatArray]],
    best: tuple[str, float],
    names: Sequence[str],
    sent: FloatArray,
    servers: IntArray,
    change_at: float | None = None,
) -> Any:
    """Two panels over time, into a file.

    Args:
        path: The file; its ending says in which format.
        lines: Times and mean latencies, both in seconds, by label; the first is the agent's.
        best: The best single server in hindsight, and its mean latency.
        names: Of the servers.
        sent: When the agent sent its requests, in increasing order.
        servers: The number of the server that each of them went to.
        change_at: When the best server turned slow.
    """
    with styled():
        figure = new_figure(4.2)
        upper, lower = figure.subplots(2, sharex=True)
        for (label, (times, means)), colour in zip(lines.items(), (INK, GREY), strict=False):
            upper.plot(times, np.asarray(means) * 1e3, color=colour, label=label)
        upper.axhline(best[1] * 1e3, color=INK, lw=1.0, ls=(0, (1, 1)), label=f"only {best[0]}")
        upper.set_ylabel("mean latency, ms")
        upper.set_ylim(bottom=0)
        for k, name in enumerate(names):
            lower.plot(
                sent, recent_shares(servers == k), color=PALETTE[k % len(PALETTE)], label=name
            )
        lower.set_ylabel("share of choices")
        lower.set_xlabel("seconds")
        for axes in (upper, lower):
            if change_at is not None:
                axes.axvline(change_at, color=GREY, lw=0.8)
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        save_figure(figure, path)
    return figure


def recent_shares(hits: IntArray) -> FloatArray:
    """The share of true entries among the last `WINDOW` up to each."""
    total = np.cumsum(hits)
    before = np.concatenate([np.zeros(WINDOW), total])[: len(total)]
    return (total - before) / np.minimum(np.arange(1, len(total) + 1), WINDOW)
