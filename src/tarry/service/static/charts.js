// The two charts: who is still there after how long, and who was chosen when.
import { Keyed, apart, nice, node, path, put, round, say, smooth, ticks } from "./svg.js";
import { clock, group, interval, percent, shown, time, unitFor } from "./words.js";

const HEIGHT = 264, LEFT = 46, TOP = 10, BOTTOM = 30, GAP = 15;

class Chart {
  constructor(holder, name) {
    this.holder = holder;
    this.svg = node("svg", { role: "img", height: HEIGHT, class: name }, null);
    holder.append(this.svg);
    this.grid = node("g", { class: "grid", "aria-hidden": "true" }, this.svg);
    this.marks = node("g", { "aria-hidden": "true" }, this.svg);
    this.labels = node("g", { class: "labels", "aria-hidden": "true" }, this.svg);
    this.names = new Keyed(this.labels, () => node("text", {}));
    new ResizeObserver(() => this.redraw()).observe(holder);
  }

  redraw() { if (this.last) this.draw(...this.last); }

  size(names, beside = true) {
    const width = Math.max(this.holder.clientWidth, 240);
    const signs = Math.max(4, ...names.map((name) => Math.min([...name].length, width < 480 ? 10 : 16)));
    this.signs = signs;
    this.width = width;
    this.right = beside ? width - Math.min(14 + 7.4 * signs, width * 0.36) : width - 4;
    put(this.svg, { width, viewBox: `0 0 ${width} ${HEIGHT}` });
  }

  y(share) { return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM); }

  axes(horizontal) {
    const lines = [0, 0.5, 1].map((share) => ["line", { x1: LEFT, x2: this.right, y1: this.y(share), y2: this.y(share), class: share ? "" : "base" }]);
    const left = [0, 0.5, 1].map((share) => ["text", { x: LEFT - 8, y: this.y(share) + 4, "text-anchor": "end" }, `${100 * share}${share === 1 ? " %" : ""}`]);
    const below = horizontal.map(([x, text], k) => ["text", { x: round(x), y: HEIGHT - 10, "text-anchor": k === 0 ? "start" : k === horizontal.length - 1 ? "end" : "middle" }, text]);
    const wanted = [...lines, ...left, ...below];
    const key = JSON.stringify(wanted);
    if (key === this.axis) return;
    this.axis = key;
    this.grid.replaceChildren(...wanted.map(([kind, attributes, text]) => (text === undefined ? node(kind, attributes) : say(node(kind, attributes), text))));
  }

  label(found) {
    this.names.follow(found.map(([name]) => name));
    const heights = apart(found.map(([, y]) => y), GAP, TOP + 6, HEIGHT - BOTTOM);
    found.forEach(([name, , place, called], k) => {
      const text = this.names.get(name);
      say(text, shown(called || name, this.signs));
      put(text, { x: this.inside ? this.right : this.right + 10, y: round(heights[k] + 4), "text-anchor": this.inside ? "end" : "start", class: `ink-${place}`, "data-arm": name });
    });
  }
}

export class Curves extends Chart {
  constructor(holder) {
    super(holder, "curves");
    this.bands = new Keyed(node("g", {}, this.marks), (name) => node("path", { "data-arm": name }));
    this.lines = new Keyed(node("g", {}, this.marks), (name) => node("path", { "data-arm": name }));
    this.rule = node("line", { class: "rule", y1: TOP, y2: HEIGHT - BOTTOM, hidden: "" }, this.marks);
    this.read = document.createElement("p");
    this.read.className = "read";
    holder.append(this.read);
    put(this.svg, { tabindex: 0 });
    this.svg.addEventListener("pointermove", (event) => this.point(event.clientX - this.svg.getBoundingClientRect().left));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.svg.addEventListener("blur", () => this.point(null));
    this.svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step && event.key !== "Escape") return;
      event.preventDefault();
      const from = this.at === null ? LEFT : this.at;
      this.point(step ? from + step * (this.right - LEFT) / 40 : null);
    });
    this.at = null;
  }

  draw(arms, longest, place, verb) {
    this.last = [arms, longest, place, verb];
    const own = arms.filter((arm) => arm.curve && place(arm.name) !== "none");
    this.limit = this.reach(own, longest);
    // Names stand beside the ends of the lines; or, where all lines end low, in the empty corner.
    const corner = 0.6 * this.limit;
    this.inside = own.every(({ curve }) => curve.time[curve.time.length - 1] < corner || this.value(curve, corner, "high") < 0.45);
    this.size(own.map((arm) => shown(arm.name)), !this.inside);
    const unit = unitFor(this.limit);
    const marks = ticks(this.limit / unit.size, this.width < 480 ? 4 : 6);
    this.axes(marks.map((t, k) => [this.x(t * unit.size), `${group(t)}${k === marks.length - 1 ? ` ${unit.sign}` : ""}`]));
    const front = [...own].sort((a, b) => b.best - a.best).slice(0, 2).map((arm) => arm.name); // a crowd of bands hides itself
    this.bands.follow(own.map((arm) => arm.name));
    this.lines.follow(own.map((arm) => arm.name));
    for (const arm of own) {
      const { low, high, alive } = this.points(arm.curve);
      put(this.bands.get(arm.name), { d: `${smooth(high)}L${smooth(low.reverse()).slice(1)}Z`, class: `fill-${place(arm.name)}` });
      this.bands.get(arm.name).classList.toggle("back", own.length > 5 && !front.includes(arm.name));
      put(this.lines.get(arm.name), { d: smooth(alive), class: `line-${place(arm.name)}` });
    }
    const ranked = [...own].sort((a, b) => (b.mean ?? 0) - (a.mean ?? 0));
    this.label(this.inside
      ? ranked.map((arm, k) => [arm.name, TOP + 12 + k * (GAP + 2), place(arm.name)])
      : own.map((arm) => [arm.name, this.y(this.value(arm.curve, this.limit, "alive")), place(arm.name)]));
    put(this.svg, { "aria-label": this.spoken(own, unit, verb) });
    this.verb = verb;
    this.own = own;
    this.point(this.at);
  }

  x(t) { return LEFT + (t / this.limit) * (this.right - LEFT); }

  // Up to where hardly anybody is left; it moves only when it must, since a live axis must not dance.
  reach(own, longest) {
    const ends = own.map(({ curve }) => curve.time.find((_, k) => curve.alive[k] < 0.04) || curve.time[curve.time.length - 1]);
    const unit = unitFor(Math.max(longest / 1000, ...ends)).size; // the axis ends at a whole number
    const wanted = Math.min(nice((Math.max(longest / 1000, ...ends) * 1.02) / unit) * unit, longest);
    const keep = this.limit && wanted <= this.limit && wanted > 0.6 * this.limit && this.limit <= longest;
    return keep ? this.limit : wanted;
  }

  points(curve) {
    const found = { alive: [], low: [], high: [] };
    for (const what of Object.keys(found)) {
      for (let k = 0; k < curve.time.length && (k === 0 || curve.time[k - 1] < this.limit); k++) {
        const t = Math.min(curve.time[k], this.limit);
        found[what].push([this.x(t), this.y(this.value(curve, t, what))]);
      }
    }
    return found;
  }

  value(curve, t, what) {
    const k = curve.time.findIndex((at) => at >= t);
    if (k < 0) return curve[what][curve[what].length - 1];
    if (k === 0) return curve[what][0];
    const part = (t - curve.time[k - 1]) / (curve.time[k] - curve.time[k - 1]);
    return curve[what][k - 1] + part * (curve[what][k] - curve[what][k - 1]);
  }

  spoken(own, unit, verb) {
    if (!own.length) return "No curve yet.";
    const t = this.limit / 4;
    return `Curves with 95 % bands. After ${time(t, t, unit)}, ${verb}: ${own.map((arm) => `${shown(arm.name)} ${percent(this.value(arm.curve, t, "alive"))}`).join(", ")}. Arrow keys read other times.`;
  }

  point(x) {
    this.at = x === null ? null : Math.min(Math.max(x, LEFT), this.right);
    put(this.rule, { x1: round(this.at || 0), x2: round(this.at || 0) });
    this.rule.toggleAttribute("hidden", this.at === null);
    if (this.at === null || !this.own || !this.own.length) return say(this.read, this.own && this.own.length ? "Point at the curves to read them." : "");
    const t = ((this.at - LEFT) / (this.right - LEFT)) * this.limit;
    const all = this.own.map((arm) => `${shown(arm.name, 18)} ${percent(this.value(arm.curve, t, "alive"))} (${interval(100 * this.value(arm.curve, t, "low"), 100 * this.value(arm.curve, t, "high"), { size: 1, sign: "%" })})`);
    return say(this.read, `After ${time(t, this.limit / 5, unitFor(this.limit))}: ${all.join(", ")}`);
  }
}

export class Shares extends Chart {
  constructor(holder) {
    super(holder, "shares");
    this.areas = new Keyed(node("g", {}, this.marks), (name) => node("path", { "data-arm": name }));
  }

  draw(shares, now, place) {
    this.last = [shares, now, place];
    const names = Object.keys(shares.arms);
    this.size(names.map((name) => shown(name.trim())));
    const from = shares.began ?? now, to = Math.max(now, from + 1);
    const x = (at) => LEFT + ((at - from) / (to - from)) * (this.right - LEFT);
    const rows = shares.time.map((at, k) => [at, names.map((name) => shares.arms[name][k])]).filter(([, row]) => row[0] !== null);
    if (rows.length) rows.unshift([from, rows[0][1]]);
    if (rows.length) rows.push([to, rows[rows.length - 1][1]]);
    const days = to - from > 172800;
    const said = (at) => (days ? clock(at, now).replace(/ \d\d:\d\d$/, "") : clock(at, now).slice(-5));
    const middle = said((from + to) / 2);
    const edge = [[LEFT, said(from)], ...(middle !== said(from) && this.width > 300 ? [[(LEFT + this.right) / 2, middle]] : []), [this.right, "now"]];
    this.axes(rows.length ? edge : []);
    this.areas.follow(names);
    const labels = [];
    let below = rows.map(() => 0);
    names.forEach((name, k) => {
      const above = rows.map(([, row], i) => below[i] + row[k]);
      const top = rows.map(([at], i) => [x(at), this.y(above[i])]);
      const bottom = rows.map(([at], i) => [x(at), this.y(below[i])]).reverse();
      const line = top.length ? `${path(top)}L${bottom.map(([a, b]) => `${round(a)} ${round(b)}`).join("L")}Z` : "";
      put(this.areas.get(name), { d: line, class: `area-${place(name)}` });
      const last = rows.length - 1;
      if (rows.length && above[last] - below[last] >= 0.04) labels.push([name, this.y((above[last] + below[last]) / 2), place(name), name.trim()]);
      below = above;
    });
    this.label(labels);
    const latest = rows.length ? names.map((name, k) => `${shown(name.trim())} ${percent(rows[rows.length - 1][1][k])}`).join(", ") : "nothing yet";
    put(this.svg, { "aria-label": `Shares of the choices over time; at last ${latest}.` });
  }
}
