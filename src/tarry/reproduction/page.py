"""A page in HTML: sections, tables and drawings, for phones, paper and dark rooms alike."""

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tarry._version import __version__
from tarry.palette import DARK, INK

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #5c5c5c; --paper: #ffffff;
  --card: #f6f6f4; --line: #d9d9d4; --good: #00704f; --bad: #b03a00; --open: #6a6a6a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e4; --soft: #a5a5a0; --paper: #16181a;
  --card: #1f2225; --line: #3a3e42; --good: #4cc79e; --bad: #ff9a5c; --open: #b5b5b0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { max-width: 46rem; } .lead { font-size: 1.1rem; }
.best { max-width: 44rem; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; } a { color: inherit; }
.gallery { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0; padding: .75rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 6px; } figure svg { display: block; width: 100%; height: auto; color: var(--ink); }
figcaption { color: var(--soft); font-size: .85rem; margin-top: .5rem; }
.scroll { overflow-x: auto; margin: 1rem 0; } table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; } th { color: var(--soft); font-weight: 600; }
td.number, th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.badge { font-weight: 600; white-space: nowrap; } .badge::before { margin-right: .3em; }
.holds { color: var(--good); } .holds::before { content: "\\2713"; }
.fails { color: var(--bad); } .fails::before { content: "\\2717"; }
.open { color: var(--open); } .open::before { content: "?"; }
details { margin: 1rem 0; } summary { cursor: pointer; font-weight: 600; }
pre { overflow-x: auto; padding: .75rem; background: var(--card); font-size: .8rem; }
footer { margin: 3rem 0 1rem; color: var(--soft); font-size: .85rem; }
@media (max-width: 40rem) {
  body { padding: .5rem; } figure { padding: .25rem; }
  .matrix thead, .lines thead { display: none; }
  .matrix tr, .lines tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .matrix td, .lines td { display: flex; justify-content: space-between; gap: 1rem; border: 0;
    padding: .1rem 0; text-align: right; }
  .matrix td:first-child, .lines td:first-child { display: block; text-align: left;
    font-weight: 600; }
  .matrix td:empty { display: none; }
  .matrix td:not(:first-child)::before, .lines td:not(:first-child)::before {
    content: attr(data-head); color: var(--soft); text-align: left; }
  td.number { white-space: normal; } }
@media print { figure, tr { break-inside: avoid; } details:not([open]) { display: none; } }
"""
DARK_INKS = " ".join(f"--{colour[1:]}: {light};" for colour, light in DARK.items())
INKS = " ".join(f"--{colour[1:]}: {colour};" for colour in DARK)
COLOURS = f":root {{ {INKS} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {DARK_INKS} }} }}\n"
KINDS = {"holds": "holds", "does not hold here": "fails", "undecided": "open"}


LETTERS = "DejaVu"  # how the names of letters begin, the same in every drawing
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


class Section(NamedTuple):
    """A part of the page with a title; its parts are HTML."""

    anchor: str
    title: str
    parts: Sequence[str]


def document(title: str, opening: Sequence[str], sections: Sequence[Section]) -> str:
    """The whole page, with nothing to load from elsewhere; `opening` stands before the contents."""
    links = " ".join(f'<a href="#{s.anchor}">{html.escape(s.title)}</a>' for s in sections)
    top = "\n".join(opening)
    body = "\n".join(
        f'<section id="{s.anchor}">\n<h2>{html.escape(s.title)}</h2>\n'
        + "\n".join(s.parts)
        + "\n</section>"
        for s in sections
    )
    whole = f"{top}\n<nav>{links}</nav>\n{body}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}{COLOURS}</style>\n</head>\n<body>\n"
        f"<h1>{html.escape(title)}</h1>\n{letters_once(whole)}\n"
        f"<footer>Written by tarry {__version__}. Bandits that learn while they wait.</footer>\n"
        "</body>\n</html>\n"
    )


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph."""
    chosen = f' class="{kind}"' if kind else ""
    return f"<p{chosen}>{cell(text)}</p>"


def subheading(text: str) -> str:
    """The title of something smaller than a section."""
    return f"<h3>{html.escape(text)}</h3>"


def preformatted(text: str) -> str:
    """Text as it is."""
    return f"<pre>{html.escape(text)}</pre>"


def details(title: str, content: str) -> str:
    """Something to open."""
    return f"<details>\n<summary>{html.escape(title)}</summary>\n{content}\n</details>"


def badge(verdict: str, note: str = "") -> Markup:
    """A verdict, told by word, sign and colour, with a mark behind it."""
    text = html.escape(verdict + note)
    return Markup(f'<span class="badge {KINDS[verdict]}">{text}</span>')


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], kind: str = "lines") -> str:
    """A table; on a phone every row becomes a small list."""
    lines = [[cell(value) for value in row] for row in rows]
    numeric = [
        bool(lines)
        and all(
            re.fullmatch(r"[\u2212\d., %±to\u202f]*\d[\u2212\d., %±to\u202f]*|-|", row[place])
            for row in lines
        )
        for place in range(len(heads))
    ]
    classes = [' class="number"' if each else "" for each in numeric]
    top = "".join(
        f"<th{c}>{html.escape(head)}</th>" for head, c in zip(heads, classes, strict=True)
    )
    body = "\n".join(
        "<tr>"
        + "".join(
            f'<td{c} data-head="{html.escape(head)}">{value}</td>'
            for head, c, value in zip(heads, classes, row, strict=True)
        )
        + "</tr>"
        for row in lines
    )
    return (
        f'<div class="scroll"><table class="{kind}">\n<thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def cell(value: Any) -> str:
    """The content of a cell."""
    if isinstance(value, Markup):
        return value
    text = re.sub(r"(?<=\d) (?=\d{3}\b)", "\u202f", str(value))  # no line break in 12 345
    return html.escape(re.sub(r"(?<![\w-])-(?=\d)", "\u2212", text))


def gallery(pictures: Iterable[str]) -> str:
    """Figures side by side where there is room."""
    return '<div class="gallery">\n' + "\n".join(pictures) + "\n</div>"


def on_white(drawing: str) -> str:
    """A transparent SVG with a white ground, to stand alone."""
    head = re.search(r"<svg[^>]*>", drawing)
    end = head.end() if head else 0
    return f'{drawing[:end]}\n <rect width="100%" height="100%" fill="#ffffff"/>{drawing[end:]}'


def letters_once(text: str) -> str:
    """The page with each shape of a letter defined once, where it is first used."""
    seen: set[str] = set()

    def first(found: re.Match[str]) -> str:
        new = found[1] not in seen
        seen.add(found[1])
        return found[0] if new else ""

    return re.sub(rf'<path id="({LETTERS}[^"]*)"[^>]*/>', first, text)


def lighter(svg: str) -> str:
    """The same drawing with coordinates to a tenth of a point, and nothing between its parts.

    Shapes of letters (in <defs>) are drawn large and scaled down, so a whole number will do there.
    """

    def rounded(digits: int) -> Callable[[re.Match[str]], str]:
        return lambda found: f"{float(found[0]):.{digits}f}".rstrip("0").rstrip(".")

    def path(found: re.Match[str]) -> str:
        digits = 0 if max(map(abs, map(float, NUMBER.findall(found[1])))) > 1000 else 1
        text = " ".join(re.sub(r"-?\d+\.\d+", rounded(digits), found[1]).split())
        joined = re.sub(r" ?([A-Za-z]) ?", r"\1", text)
        return f' d="{joined}"'

    svg = re.sub(r' d="([^"]*\d[^"]*)"', path, svg)
    svg = re.sub(r'(?<=[ (,"])-?\d+\.\d{3,}(?=[ ),"])', rounded(3), svg)
    return re.sub(r">\s+<", "><", svg)


def figure(name: str, drawing: str, caption: str) -> str:
    """A drawing inside the page: its own names, the text colour of the page, a caption."""
    svg = drawing[drawing.index("<svg") :]
    svg = lighter(re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL))
    svg = re.sub(rf'\bid="(?!{LETTERS})', f'id="{name}-', svg)
    svg = re.sub(rf'href="#(?!{LETTERS})', f'href="#{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = svg.replace(INK, "currentColor")
    for colour in DARK:
        svg = svg.replace(colour.lower(), f"var(--{colour[1:]})")
    label = html.escape(caption)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    return (
        f'<figure id="figure-{name}">\n{svg.strip()}\n<figcaption>{label}</figcaption>\n</figure>'
    )
