// Small tools for drawings that are changed in place, never made anew: nothing flickers.

const SPACE = "http://www.w3.org/2000/svg";

export function node(kind, attributes = {}, parent = null) {
  const made = document.createElementNS(SPACE, kind);
  put(made, attributes);
  if (parent) parent.append(made);
  return made;
}

export function put(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
  return element;
}

export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
  return element;
}

// A list of elements that follows a list of keys: `make(key)` once, in order, the others removed.
export class Keyed {
  constructor(parent, make) {
    this.parent = parent;
    this.make = make;
    this.held = new Map();
  }

  follow(keys) {
    const wanted = new Set(keys);
    for (const [key, made] of this.held) {
      if (!wanted.has(key)) {
        made.remove();
        this.held.delete(key);
      }
    }
    let before = null;
    for (const key of keys) {
      let made = this.held.get(key);
      if (!made) this.held.set(key, (made = this.make(key)));
      const place = before ? before.nextElementSibling : this.parent.firstElementChild;
      if (place !== made) this.parent.insertBefore(made, place);
      before = made;
    }
  }

  get(key) { return this.held.get(key); }
}

export const round = (x) => Math.round(10 * x) / 10;

export function path(points) {
  return points.length ? `M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L")}` : "";
}

// A smooth line through points that never rises where they fall: cubic pieces whose slopes are
// limited as Fritsch and Carlson (1980) say.
export function smooth(points) {
  const n = points.length;
  if (n < 3) return path(points);
  const slope = [];
  for (let k = 0; k < n - 1; k++) slope.push((points[k + 1][1] - points[k][1]) / (points[k + 1][0] - points[k][0] || 1e-6));
  const at = slope.map((s, k) => (k === 0 ? s : s * slope[k - 1] <= 0 ? 0 : (2 * s * slope[k - 1]) / (s + slope[k - 1])));
  at.push(slope[n - 2]);
  let line = `M${round(points[0][0])} ${round(points[0][1])}`;
  for (let k = 0; k < n - 1; k++) {
    const [x, y] = points[k], [a, b] = points[k + 1], third = (a - x) / 3;
    line += `C${[x + third, y + third * at[k], a - third, b - third * at[k + 1], a, b].map(round).join(" ")}`;
  }
  return line;
}

// A number of the form 1, 2, 2.5 or 5 times a power of ten, at least `value`.
export function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((m) => m * power >= value * 0.999) * power;
}

export function ticks(limit, most) {
  const power = 10 ** Math.floor(Math.log10(limit / most));
  const step = [1, 2, 2.5, 5, 10].find((m) => limit / (m * power) <= most) * power;
  return Array.from({ length: Math.floor(limit / step + 1e-9) + 1 }, (_, k) => Number((k * step).toPrecision(10)));
}

// Moves labels apart that would overlap: wanted heights to heights at least `gap` apart.
export function apart(heights, gap, low, high) {
  const order = heights.map((y, k) => [y, k]).sort((a, b) => a[0] - b[0]);
  const placed = order.map(([y]) => Math.max(y, low));
  for (let k = 1; k < placed.length; k++) placed[k] = Math.max(placed[k], placed[k - 1] + gap);
  let top = high;
  for (let k = placed.length - 1; k >= 0; k--) {
    placed[k] = Math.min(placed[k], top);
    top = placed[k] - gap;
  }
  const found = [];
  order.forEach(([, k], place) => { found[k] = placed[place]; });
  return found;
}
