"""What an answer or an error says about the route that it came from."""

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

REFUSED = (401, 403)


def failed_status(response: Any) -> bool:
    """Whether the status says that the route could not serve: 408, 429, and 500 or above."""
    status: int = response.status_code
    return status in (408, 429) or status >= 500


def not_the_route(http: Any, error: Exception) -> bool:
    """Whether the error was made on this side: no room in the pool, or nothing that can be sent."""
    ours = (http.PoolTimeout, http.LocalProtocolError, http.UnsupportedProtocol, http.InvalidURL)
    return isinstance(error, ours)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds for which the server asks to be left alone; 0 if it does not.

    The header has seconds or a date. A date is compared with that of the answer, so that it does
    not matter whether the clocks here and there agree.

    >>> retry_after({"Retry-After": "7"})
    7.0
    >>> dates = {"Date": "Tue, 17 Nov 2026 10:00:00 GMT"}
    >>> retry_after(dates | {"Retry-After": "Tue, 17 Nov 2026 10:01:30 GMT"})
    90.0
    """
    text = headers.get("Retry-After", "").strip()
    if not text:
        return 0.0
    try:
        seconds = float(text)
    except ValueError:
        until, sent = _moment(text), _moment(headers.get("Date", ""))
        if until is None:
            return 0.0
        seconds = until - (time.time() if sent is None else sent)
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0


def _moment(date: str) -> float | None:
    """An HTTP date as seconds since the epoch, None if it is none."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return None
