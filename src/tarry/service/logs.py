"""Logs as lines of JSON on standard error."""

import json
import logging
import sys
import time
from typing import Any

LEVELS = ("error", "warning", "info")


class Lines(logging.Formatter):
    """One object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def set_up(level: str) -> None:
    """Have all that is logged written as lines of JSON, from this level on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("tarry").setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.WARNING)


def request_line(operation: str, status: int, seconds: float, scope: Any) -> dict[str, Any]:
    """What is said of a request; neither keys nor bodies."""
    client = scope.get("client")
    fields = {
        "operation": operation,
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "ms": round(seconds * 1e3, 3),
        "client": client[0] if client else "",
    }
    return {"fields": fields}
