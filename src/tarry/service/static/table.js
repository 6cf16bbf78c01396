// The table of the arms: a row for each, changed in place.
import { Keyed, node, put, round, say } from "./svg.js";
import { clock, group, interval, joined, percent, rounded, shown, span, unitFor } from "./words.js";

const FIRST = 12; // rows that are shown at once; more on demand
const MOST = 40; // up to so many arms, all are shown
const FOUND = 200; // rows of a search
const CALM = 12000; // ms between two changes of order that nobody asked for
const COLUMNS = [
  ["name", "Arm", "", (arm) => arm.name.toLowerCase(), 1],
  ["share", "Share", "of the last 100", (arm) => arm.share, -1],
  ["mean", "Mean", "95 % interval", (arm) => arm.mean ?? -1, -1],
  ["best", "Best", "probability", (arm) => (arm.best ?? -1) + 1e-6 * arm.share, -1],
  ["plays", "Plays", "in all", (arm) => arm.plays, -1],
  ["out", "Out", "and how old", (arm) => arm.out, -1],
];

export class ArmTable {
  constructor(section, place, point) {
    this.place = place;
    this.body = new Keyed(section.querySelector("tbody"), (name) => this.row(name, point));
    this.filter = section.querySelector(".filter");
    this.rest = section.querySelector(".rest");
    this.table = section.querySelector("table");
    this.sort = ["best", -1];
    this.order = [];
    this.all = false;
    this.sorted = 0;
    // Of many rows, those that nobody sees are filled once, and anew when they come into sight.
    this.sight = new IntersectionObserver((seen) => {
      for (const { target, isIntersecting } of seen) {
        target.near = isIntersecting;
        if (isIntersecting && target.later) target.later();
      }
    }, { rootMargin: "300px" });
    this.heads = COLUMNS.map((column) => this.head(section.querySelector("thead tr"), ...column));
    this.filter.querySelector("input").addEventListener("input", () => this.again());
    this.rest.querySelector("button").addEventListener("click", () => {
      this.all = !this.all;
      this.again();
    });
  }

  head(parent, key, title, below, _, first) {
    const cell = document.createElement("th");
    put(cell, { scope: "col", role: "columnheader", class: `c-${key}` });
    const button = document.createElement("button");
    button.type = "button";
    button.append(title);
    if (below) button.append(Object.assign(document.createElement("small"), { textContent: below }));
    button.addEventListener("click", () => {
      this.sort = this.sort[0] === key ? [key, -this.sort[1]] : [key, first];
      this.again();
    });
    cell.append(button);
    parent.append(cell);
    return [key, cell];
  }

  again() {
    this.sorted = 0;
    if (this.doc) this.draw(this.doc);
  }

  row(name, point) {
    const row = document.createElement("tr");
    put(row, { role: "row", "data-arm": name });
    const cells = {};
    for (const [key, title] of COLUMNS) {
      const cell = document.createElement(key === "name" ? "th" : "td");
      put(cell, key === "name" ? { scope: "row", role: "rowheader", class: "c-name" } : { role: "cell", class: `c-${key}`, "data-label": title });
      cells[key] = cell;
      row.append(cell);
    }
    const part = (cell, kind, word) => cells[cell].appendChild(Object.assign(document.createElement(kind), { className: word }));
    row.parts = {
      swatch: part("name", "span", "swatch"), name: part("name", "span", "called"), state: part("name", "small", "state"),
      share: part("share", "span", "number"), bar: part("share", "span", "bar"),
      mean: part("mean", "span", "number"), interval: part("mean", "small", "interval"), whisker: cells.mean.appendChild(node("svg", { class: "whisker", height: 14, "aria-hidden": "true" })),
      best: part("best", "span", "number"),
      plays: part("plays", "span", "number"), odd: part("plays", "small", ""),
      out: part("out", "span", "number"), ages: cells.out.appendChild(node("svg", { class: "ages", width: 46, height: 16, "aria-hidden": "true" })), oldest: part("out", "small", ""),
    };
    const p = row.parts;
    p.fill = p.bar.appendChild(document.createElement("i"));
    p.line = node("line", { y1: 7, y2: 7 }, p.whisker);
    p.dot = node("circle", { cy: 7, r: 3.5 }, p.whisker);
    p.bars = Array.from({ length: 8 }, (_, k) => node("rect", { x: k * 6, width: 4.5 }, p.ages));
    row.near = true;
    this.sight.observe(row);
    row.addEventListener("pointerenter", () => point(name));
    row.addEventListener("pointerleave", () => point(null));
    return row;
  }

  draw(doc) {
    this.doc = doc;
    const by = new Map(doc.arms.map((arm) => [arm.name, arm]));
    const names = this.choose(doc, by);
    const top = Math.max(1e-9, ...doc.arms.map((arm) => arm.high ?? 0));
    const means = doc.arms.map((arm) => arm.mean).filter((mean) => mean !== null);
    const unit = unitFor(means.length ? Math.max(...means) || top : 1);
    this.body.follow(names);
    this.table.classList.toggle("many", names.length > MOST);
    for (const name of names) {
      const row = this.body.get(name);
      row.later = () => {
        row.later = null;
        this.fill(row, by.get(name), doc, unit, top);
      };
      if (row.near || !row.className) row.later();
    }
    for (const [key, cell] of this.heads) {
      put(cell, { "aria-sort": this.sort[0] !== key ? "none" : this.sort[1] > 0 ? "ascending" : "descending" });
    }
  }

  // Which arms, in which order. The order changes when somebody wants it to, or now and then while
  // nobody is at the table.
  choose(doc, by) {
    const known = this.order.length === by.size && this.order.every((name) => by.has(name));
    const busy = this.table.matches(":hover, :focus-within");
    if (!known || !this.sorted || (!busy && performance.now() - this.sorted > CALM)) {
      const [, , , value] = COLUMNS.find(([key]) => key === this.sort[0]);
      const rank = new Map(doc.arms.map((arm, k) => [arm.name, [value(arm), k]]));
      const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      this.order = [...by.keys()].sort((a, b) => this.sort[1] * compare(rank.get(a)[0], rank.get(b)[0]) || rank.get(a)[1] - rank.get(b)[1]);
      this.sorted = performance.now();
    }
    const many = by.size > MOST;
    this.filter.hidden = !many;
    const wanted = many ? this.filter.querySelector("input").value.trim().toLowerCase() : "";
    const found = wanted ? this.order.filter((name) => name.toLowerCase().includes(wanted)).slice(0, FOUND) : this.order;
    const loud = this.order.filter((name) => by.get(name).alarm);
    const few = many && !this.all && !wanted;
    const shownNow = few ? [...new Set([...found.slice(0, FIRST), ...loud.slice(0, FIRST)])] : found;
    this.rest.hidden = !many;
    const says = wanted ? `${group(found.length)} of ${group(by.size)} arms` : few ? `${group(shownNow.length)} of ${group(by.size)} arms` : `All ${group(by.size)} arms`;
    say(this.rest.querySelector("span"), says);
    const button = this.rest.querySelector("button");
    button.hidden = !!wanted;
    say(button, this.all ? "Show fewer" : `Show all ${group(by.size)}`);
    return shownNow;
  }

  fill(row, arm, doc, unit, top) {
    const p = row.parts, spot = this.place(arm.name);
    const heard = arm.mean !== null;
    put(row, { class: `${arm.state}${arm.name === doc.leader ? " leads" : ""}${arm.alarm ? " alarmed" : ""}` });
    put(p.swatch, { class: `swatch fill-${spot}` });
    say(p.name, shown(arm.name));
    put(p.name, { title: arm.name });
    say(p.state, state(arm, doc.now));
    say(p.share, percent(arm.share));
    p.fill.style.transform = `scaleX(${Math.round(1000 * arm.share) / 1000})`;
    put(p.fill, { class: `fill-${spot}` });
    const width = heard ? arm.high - arm.low : 1;
    say(p.mean, heard ? `${rounded(arm.mean / unit.size, width / unit.size)}\u00a0${unit.sign}` : "–");
    say(p.interval, heard ? interval(arm.low, arm.high, unit) : "not known yet");
    this.whisker(p, arm, heard, top, spot);
    say(p.best, arm.best === null ? "–" : percent(Math.min(Math.max(arm.best, 1e-9), 1 - 1e-9))); // never quite 0 or 1
    say(p.plays, group(arm.plays));
    say(p.odd, odd(arm));
    say(p.out, group(arm.out));
    say(p.oldest, arm.oldest === null ? "" : `oldest ${span(arm.oldest)}`);
    const most = arm.ages ? Math.max(1, ...arm.ages.counts) : 1;
    p.ages.toggleAttribute("hidden", !arm.ages);
    if (arm.ages) p.bars.forEach((bar, k) => {
      const height = arm.ages.counts[k] ? Math.max(1.5, (15 * arm.ages.counts[k]) / most) : 0.6;
      put(bar, { y: round(16 - height), height: round(height), class: arm.ages.counts[k] ? "" : "empty" });
    });
  }

  whisker(p, arm, heard, top, spot) {
    const at = (value) => `${round((98 * value) / top + 1)}%`;
    p.whisker.toggleAttribute("hidden", !heard);
    if (!heard) return;
    put(p.line, { x1: at(arm.low), x2: at(arm.high), class: `line-${spot}` });
    put(p.dot, { cx: at(arm.mean), class: `fill-${spot}` });
  }
}

function state(arm, now) {
  const since = arm.since === null ? "" : ` since ${clock(arm.since, now)}, ${span(Math.max(now - arm.since, 0))}`;
  const word = { paused: `paused${since}`, rested: `rests${since}`, removed: "removed", active: "" }[arm.state];
  const calm = arm.changed && !arm.changed.news && arm.state === "active"; // what is new, the alarm says
  const changed = calm ? `as it is for ${span(Math.max(now - arm.changed.since, 0))}, ${percent(arm.changed.sure)} sure` : "";
  return joined([word || changed, arm.alarm].filter(Boolean).join(" · "));
}

function odd(arm) {
  const said = [["failed", arm.failed], ["cancelled", arm.cancelled], ["void", arm.void]];
  return said.filter(([, count]) => count).map(([word, count]) => `${group(count)} ${word}`).join(", ");
}
