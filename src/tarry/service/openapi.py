"""The OpenAPI document of the service, made from the table of operations and the messages."""

from functools import cache
from typing import Any

import msgspec

from tarry._version import __version__
from tarry.service.messages import LONGEST_NAME, Problem
from tarry.service.operations import OPERATIONS, Operation, Role
from tarry.service.problems import KINDS, MEDIA

WORDS = {"name": "The name of the agent.", "arm": "The name of the arm."}
ALWAYS = {
    Role.OPEN: (),
    Role.PAGE: ("input", "size", "rate", "host"),
    Role.DECIDE: ("key", "role", "rate", "host"),
    Role.MANAGE: ("key", "role", "rate", "host"),
}
PLAYED = ("tell", "fail", "cancel")


@cache
def document() -> bytes:
    """The document as JSON."""
    return msgspec.json.encode(described())


def described() -> dict[str, Any]:
    """The document."""
    types = {one.takes for one in OPERATIONS if one.takes is not None}
    types |= {one.gives for one in OPERATIONS if hasattr(one.gives, "__struct_fields__")}
    types.add(Problem)
    ordered = sorted(types, key=lambda each: str(each.__name__))
    references, components = msgspec.json.schema_components(
        ordered, ref_template="#/components/schemas/{name}"
    )
    schemas = dict(zip(ordered, references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "tarry",
            "version": __version__,
            "description": "Decisions whose payoff is the time they take.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def problems_of(one: Operation) -> list[str]:
    """The kinds of problems that an operation can answer with."""
    kinds = [*ALWAYS[one.role], *one.refuses]
    if one.takes is not None or one.query or one.words:
        kinds.append("input")
    if one.takes is not None:
        kinds += ["size"] if one.role == Role.PAGE else ["size", "media"]
    return [kind for kind in KINDS if kind in kinds]


def _operation(one: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.summary,
        "tags": [str(one.role)],
        "parameters": _parameters(one),
        "responses": _responses(one, schemas),
    }
    if one.role in (Role.DECIDE, Role.MANAGE):
        told["security"] = [{"key": []}]
    if one.takes is not None:
        media = "text/plain" if one.role == Role.PAGE else "application/json"
        needed = msgspec.json.schema(one.takes)["$defs"][one.takes.__name__].get("required")
        told["requestBody"] = {
            "required": bool(needed),
            "content": {media: {"schema": schemas[one.takes]}},
        }
    return told


def _parameters(one: Operation) -> list[dict[str, Any]]:
    name = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
    found: list[dict[str, Any]] = [
        {"name": word, "in": "path", "required": True, "description": WORDS[word], "schema": name}
        for word in one.words
    ]
    for word, meaning in one.query.items():
        kind = {"type": "integer", "minimum": 1, "maximum": 100_000} if word == "limit" else name
        needed = word != "limit"
        found.append(
            {
                "name": word,
                "in": "query",
                "required": needed,
                "description": meaning,
                "schema": kind,
            }
        )
    for header, meaning in one.headers.items():
        kind = {"type": "string", "minLength": 1, "maxLength": 200}
        found.append({"name": header, "in": "header", "description": meaning, "schema": kind})
    return found


def _responses(one: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for status, meaning in one.statuses.items():
        told: dict[str, Any] = {"description": meaning}
        found[str(status)] = told
        if one.gives is str:
            media = "text/event-stream" if one.name == "events" else "text/plain"
            told["content"] = {media: {"schema": {"type": "string"}}}
        elif one.gives is not None:
            schema = schemas.get(one.gives, {"type": "object"})
            told["content"] = {"application/json": {"schema": schema}}
        links = _links(one)
        if links:
            told["links"] = links
    refused: dict[int, list[str]] = {}
    for kind in problems_of(one):
        status, title = KINDS[kind]
        refused.setdefault(status, []).append(title)
    for status, titles in refused.items():
        found[str(status)] = {
            "description": "; ".join(titles) + ".",
            "content": {MEDIA.decode(): {"schema": schemas[Problem]}},
        }
    return found


def _links(one: Operation) -> dict[str, Any]:
    """What can be asked next with what was answered."""
    if one.name == "ask":
        play, name = "$response.body#/play", {"name": "$request.path.name"}
        links = {
            each: {"operationId": each, "parameters": name, "requestBody": {"play": play}}
            for each in PLAYED
        }
        links["alive"] = {
            "operationId": "alive",
            "parameters": name,
            "requestBody": {"play": play, "seconds": 1.0},
        }
        return links
    if one.name == "put_agent":
        name = {"name": "$response.body#/name"}
        asked = ("ask", "get_agent", "explain", "history", "view")
        links = {each: {"operationId": each, "parameters": name} for each in asked}
        page = {"operationId": "page_ask", "requestBody": {"agent": "$response.body#/name"}}
        return links | {"page_ask": page}
    if one.name == "page_ask":
        body = {"token": "$response.body#/token", "seconds": 1.0}
        reports = ("page_alive", "page_end")
        return {each: {"operationId": each, "requestBody": body} for each in reports}
    return {}
