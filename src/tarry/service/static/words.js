// Numbers as people read them: always with a unit, and no more digits than are known.

const UNITS = [[172800, "d", 86400], [7200, "h", 3600], [180, "min", 60], [1, "s", 1], [1e-3, "ms", 1e-3], [0, "µs", 1e-6]];
const THIN = "\u202f"; // between thousands
const JOIN = "\u00a0"; // before a unit

export function unitFor(scale) {
  const found = UNITS.find(([least]) => Math.abs(scale) >= least && scale) || UNITS[scale ? 5 : 3];
  return { sign: found[1], size: found[2] };
}

// To about a hundredth of the width of the interval.
export function rounded(value, width = 0) {
  if (!(width > 0)) width = 2 * Math.abs(value); // no width, or none at all
  let digits = 0;
  while (value && digits < 6 && width < 20 * 10 ** -digits) digits++;
  return group(Number(value.toFixed(digits)) === 0 ? (0).toFixed(digits) : value.toFixed(digits));
}

export function group(number) {
  const [whole, part] = String(number).split(".");
  const spaced = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
  return part ? `${spaced}.${part}` : spaced;
}

export function time(value, width, unit = unitFor(value)) {
  return `${rounded(value / unit.size, width / unit.size)}${JOIN}${unit.sign}`;
}

export function interval(low, high, unit = unitFor(high)) {
  const width = (high - low) / unit.size;
  return `${rounded(low / unit.size, width)} to ${rounded(high / unit.size, width)}${JOIN}${unit.sign}`;
}

export function percent(share) {
  if (share === null || share === undefined) return "–";
  if (share > 0 && share < 0.01) return `<${JOIN}1${JOIN}%`;
  if (share < 1 && share > 0.99) return `>${JOIN}99${JOIN}%`;
  return `${Math.round(100 * share)}${JOIN}%`;
}

// A number and its unit stay on one line.
export function joined(text) {
  return text.replace(/(\d) (?=(%|d|h|min|s|ms|µs)(?![\p{L}\d]))/gu, `$1${JOIN}`);
}

export function plays(count) {
  return `${group(count)} ${count === 1 ? "play" : "plays"}`;
}

// 14:03, with the day where it is not today.
export function clock(epoch, now) {
  const at = new Date(1000 * epoch);
  const hour = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  const today = new Date(1000 * now).toDateString() === at.toDateString();
  return today ? hour : `${at.toLocaleDateString([], { day: "numeric", month: "short" })} ${hour}`;
}

// 41 s, 12 min, 3.1 h: how long ago, not finer than anybody wants to know.
export function span(seconds) {
  if (seconds < 1e-3) return `0${JOIN}s`;
  const unit = unitFor(seconds);
  const value = seconds / unit.size;
  return `${value >= 20 ? Math.round(value) : value.toFixed(1)}${JOIN}${unit.sign}`;
}

// A name that fits: signs that cannot be seen are spelled out, the end says more than the middle.
export function shown(name, widest = 32) {
  const plain = name.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, (sign) => (/[\u200c\u200d]/.test(sign) ? sign : `\\u{${sign.codePointAt(0).toString(16)}}`));
  const signs = [...plain];
  if (signs.length <= widest) return plain;
  const tail = Math.floor(widest / 3);
  return `${signs.slice(0, widest - tail - 1).join("")}…${signs.slice(-tail).join("")}`;
}
