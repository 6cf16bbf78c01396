// The dashboard: which screen, what the server says, and drawing it.
import { Curves, Shares } from "./charts.js";
import { Facts } from "./facts.js";
import { Refused, follow, get, key, proper } from "./stream.js";
import { Keyed, put, say } from "./svg.js";
import { ArmTable } from "./table.js";
import { clock, group, joined, plays, shown, span, time } from "./words.js";

const find = (selector) => document.querySelector(selector);
const wait = (ms, signal) => new Promise((go) => {
  setTimeout(go, ms);
  signal.addEventListener("abort", go, { once: true });
});
const SCREENS = ["loading", "key", "gone", "none", "all", "agent"];
const COLOURS = 8;
const LISTED = 24; // agents whose sentence stands in the list

let names = [];
let reading = new AbortController();

// Colours ------------------------------------------------------------------------------------------

const colours = new Map(); // arm: number of its colour, kept as long as the arm is shown

function colour(doc) {
  const listed = Object.keys(doc.shares.arms).filter((name) => name !== " others");
  const wanted = (doc.arms.length <= COLOURS ? doc.arms.map((arm) => arm.name) : listed).slice(0, COLOURS);
  for (const name of [...colours.keys()]) if (!wanted.includes(name)) colours.delete(name);
  for (const name of wanted) {
    if (colours.has(name)) continue;
    const taken = new Set(colours.values());
    colours.set(name, [...Array(COLOURS).keys()].find((k) => !taken.has(k)));
  }
}

const place = (name) => (colours.has(name) ? colours.get(name) : "none");

function point(name) {
  for (const mark of document.querySelectorAll("svg [data-arm]")) {
    mark.classList.toggle("faint", name !== null && colours.has(name) && mark.dataset.arm !== name);
    mark.classList.toggle("near", mark.dataset.arm === name);
  }
}

// Parts --------------------------------------------------------------------------------------------

const table = new ArmTable(find(".arms"), place, point);
const facts = new Facts(find(".facts"), place);
const curves = new Curves(find("#curves"));
const shares = new Shares(find("#shares"));
const alarms = new Keyed(find(".alarms ul"), () => document.createElement("li"));
const cards = new Keyed(find(".agents"), card);

function screen(name) {
  for (const id of SCREENS) find(`#${id}`).hidden = id !== name;
  find("#main").dataset.screen = name;
}

function status(state, text) {
  put(find(".status"), { "data-state": state });
  say(find(".status .said"), text);
}

let spoken = "", spokenAt = -Infinity;

// Says politely what has changed in meaning, not every new digit.
function announce(meaning, text) {
  if (meaning === spoken || performance.now() - spokenAt < 15000) return;
  spoken = meaning;
  spokenAt = performance.now();
  say(find("#spoken"), text);
}

function draw(doc) {
  colour(doc);
  screen("agent");
  document.title = `${shown(doc.name)} · tarry`;
  const better = doc.payoff === "reward" ? "the longer, the better" : "the shorter, the better";
  const about = [shown(doc.name), better, `at most ${time(doc.max_delay, 100 * doc.max_delay)}`, ...(doc.plays ? [plays(doc.plays)] : [])];
  const line = find(".about");
  if (line.textContent !== about.join("")) line.replaceChildren(...about.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
  lead(doc);
  find("#agent").classList.toggle("new", !doc.plays);
  find(".facts").hidden = find(".charts").hidden = !doc.plays;
  if (doc.plays) {
    facts.draw(doc);
    const [head, hint, verb] = doc.payoff === "reward"
      ? ["How long they last", "Share still there after so long, with 95 % bands", "still there"]
      : ["How long they take", "Share not back after so long, with 95 % bands", "not back"];
    say(find("#curve-head"), head);
    say(find("#curve-head + .hint"), doc.follows_change ? hint.replace(",", ", of all plays,") : hint);
    curves.draw(doc.arms, doc.max_delay, place, verb);
    shares.draw(doc.shares, doc.now, place);
  }
  warn(doc);
  table.draw(doc);
  begin(doc);
  foot(doc);
  const troubled = doc.alarms.map((alarm) => alarm.what).join();
  announce(`${doc.name}|${doc.leader}|${troubled}|${doc.store.state}`, doc.sentence);
}

function lead(doc) {
  const [first, ...more] = doc.sentences.map(joined);
  const head = find(".sentence");
  if (head.textContent !== first) {
    const name = doc.leader === null ? "" : shown(doc.leader);
    const at = name ? first.indexOf(name) : -1;
    head.replaceChildren(...(at < 0 ? [first] : [first.slice(0, at), Object.assign(document.createElement("strong"), { textContent: name }), first.slice(at + name.length)]));
  }
  say(find(".more"), more.join(" "));
}

function warn(doc) {
  const all = doc.alarms.slice(0, 6).map((alarm) => [alarm.arm ?? ` ${alarm.what}`, alarm]);
  if (doc.store.state !== "ok") all.unshift([" store", { what: "Store", text: doc.store.text }]);
  const more = doc.alarms.length - 6;
  if (more > 0) all.push([" more", { what: `${more} more`, text: "marked in the table" }]);
  find(".alarms").hidden = !all.length;
  alarms.follow(all.map(([name]) => name));
  for (const [name, alarm] of all) {
    const item = alarms.get(name);
    if (!item.firstChild) item.append(document.createElement("b"), document.createElement("span"));
    say(item.firstChild, shown(alarm.what));
    say(item.lastChild, joined(alarm.text));
  }
}

// The key is not spelled out: screens are looked at by many.
const allowed = () => (key.get() ? " -H 'Authorization: Bearer KEY'" : "");

function begin(doc) {
  find(".begin").hidden = doc.plays > 0;
  if (doc.plays) return;
  const here = location.origin, first = doc.arms.length ? doc.arms[0].name : "A";
  const page = doc.lease !== null, asked = `${here}/v1/agents/${encodeURIComponent(doc.name)}`;
  say(find(".how"), page ? "Put this into the page, with one attribute per variant:" : "Ask for an arm, and tell when the answer is back:");
  say(find(".begin code"), page
    ? `<script src="${here}/dwell.js" data-agent="${doc.name}" data-key="PAGE-KEY"></script>\n` + doc.arms.slice(0, 3).map((arm, k) => `<section data-tarry-arm="${arm.name}"${k ? " hidden" : ""}> … </section>`).join("\n")
    : `curl -X POST ${asked}/ask${allowed()} -d '{}'\n# {"play": "…", "arm": ${JSON.stringify(first)}, …}\ncurl -X POST ${asked}/tell${allowed()} -d '{"play": "…"}'`);
}

function odd(doc) {
  const said = [["failed", doc.failed], ["vanished", doc.vanished]].filter(([, n]) => n).map(([word, n]) => `${group(n)} ${word}`);
  return said.length ? ` (${said.join(", ")})` : "";
}

function foot(doc) {
  const { arms, plays: lost } = doc.removed;
  const parts = [
    doc.began ? `Since ${clock(doc.began, doc.now)}, ${span(doc.now - doc.began)} ago` : "",
    `${plays(doc.plays)}: ${group(doc.ended)} ended, ${group(doc.out)} out` + [["cancelled", doc.cancelled], ["void", doc.void]].filter(([, n]) => n).map(([word, n]) => `, ${group(n)} ${word}`).join("") + odd(doc),
    arms ? `${arms} removed ${arms === 1 ? "arm" : "arms"} with ${plays(lost)}` : "",
    `decided by ${doc.policy}`,
    doc.lease === null ? "" : `lease ${time(doc.lease, 100)}`,
    doc.store.state === "ok" ? doc.store.text.replace(/\.$/, "").replace("All", "all") : "",
  ].filter(Boolean);
  const text = find(".foot");
  if (text.dataset.said === parts.join()) return;
  text.dataset.said = parts.join();
  text.replaceChildren(...parts.map((part) => Object.assign(document.createElement("span"), { textContent: part })));
}

// Screens ------------------------------------------------------------------------------------------

function card(name) {
  const item = document.createElement("li");
  const link = item.appendChild(document.createElement("a"));
  link.href = address(name);
  link.append(Object.assign(document.createElement("b"), { textContent: shown(name) }), document.createElement("span"), document.createElement("small"));
  return item;
}

const address = (name) => `#/${encodeURIComponent(name)}`;

function wanted() {
  try { return decodeURIComponent(location.hash.slice(2)); } catch { return ""; }
}

function pick() {
  const label = find(".pick"), select = find(".pick select");
  label.hidden = names.length < 2;
  const all = ["", ...names];
  if (select.options.length !== all.length || all.some((name, k) => select.options[k].value !== name)) {
    select.replaceChildren(...all.map((name) => new Option(name ? shown(name) : "All agents", name)));
  }
  select.value = wanted();
}

async function list(signal) {
  document.title = "tarry";
  screen("all");
  cards.follow(names);
  while (!signal.aborted) {
    for (const name of names.slice(0, LISTED)) {
      const [, text, small] = cards.get(name).firstChild.children;
      let doc;
      try {
        doc = await get(`/v1/agents/${encodeURIComponent(name)}/view`);
      } catch (error) { // one that cannot be opened, or was taken away, hides no other
        if (!(error instanceof Refused) || [401, 403].includes(error.status)) throw error;
        say(text, error.message);
        say(small, "");
        put(cards.get(name), { class: "alarmed" });
        continue;
      }
      if (signal.aborted) return;
      say(text, joined(doc.sentence));
      say(small, `${plays(doc.plays)}, ${group(doc.out)} out`);
      put(cards.get(name), { class: doc.alarms.length || doc.store.state !== "ok" ? "alarmed" : "" });
    }
    status("live", "live");
    await wait(5000, signal);
    if (signal.aborted) return;
    names = await agents();
    cards.follow(names);
    pick();
  }
}

async function agents() {
  const { agents: found } = await get("/v1/agents");
  return found.map((agent) => (typeof agent === "string" ? agent : agent.name));
}

let heardAt = 0;

async function watch(name, signal) {
  let last = null, cameAt = 0;
  await follow(`/v1/events?agent=${encodeURIComponent(name)}`, signal, (fresh) => {
    if (signal.aborted || !(fresh || last)) return;
    heardAt = Date.now() / 1000;
    if (fresh) [last, cameAt] = [fresh, heardAt];
    const doc = { ...last, now: last.now + heardAt - cameAt }; // nothing is new but the time
    find(".notice").hidden = true;
    find("#agent").classList.remove("stale");
    status("live", "live");
    draw(doc);
  });
}

// One turn of what is wanted: list or agent; ends by an error when the server is gone.
async function turn(signal) {
  names = await agents();
  pick();
  if (!names.length) {
    screen("none");
    status("live", "live");
    say(find("#make"), `curl -X PUT ${location.origin}/v1/agents/front-page${allowed()} \\\n  -d '{"arms": ["quiz", "essay"], "payoff": "reward", "max_delay": 600, "lease": 15}'`);
    await wait(3000, signal);
    return;
  }
  const name = wanted() || (names.length === 1 ? names[0] : "");
  if (!name) await list(signal);
  else await watch(name, signal);
}

async function lost(error, delay, signal) {
  if (signal.aborted) return;
  const name = wanted();
  const drawn = !find("#agent").hidden;
  if (error instanceof Refused && error.status === 404 && name) {
    location.hash = "#/";
    return;
  }
  for (let left = Math.round(delay / 1000); left > 0 && !signal.aborted; left--) {
    const again = `The next try is in ${left}\u00a0s.`;
    status("lost", "no connection");
    if (drawn && heardAt) {
      find("#agent").classList.add("stale");
      find(".notice").hidden = false;
      say(find(".notice"), `No word from the server since ${clock(heardAt, Date.now() / 1000)}: what you see is as it was then. ${again}`);
    } else {
      screen("gone");
      say(find("#gone .why"), `${error instanceof Refused ? error.message : "It may be starting, or stopped."} ${again}`);
    }
    await wait(1000, signal);
  }
}

async function run() {
  let delay = 1000;
  for (;;) {
    reading = new AbortController();
    const { signal } = reading;
    const begun = Date.now();
    try {
      await turn(signal);
      delay = 1000;
    } catch (error) {
      if (signal.aborted) delay = 1000;
      else if (error instanceof Refused && [401, 403].includes(error.status)) await ask(error);
      else {
        if (Date.now() - begun > 5000) delay = 1000;
        await lost(error, delay, signal);
        delay = Math.min(2 * delay, 15000);
      }
    }
  }
}

// Waits for a key.
function ask(error) {
  screen("key");
  status("wait", "a key is wanted");
  say(find("#refused"), key.get() ? (error.status === 403 ? error.message : "That key was refused.") : "");
  const form = find("#key form"), field = find("#secret"), over = new AbortController(), { signal } = over;
  field.focus();
  return new Promise((go) => {
    signal.addEventListener("abort", () => go(screen("loading")));
    addEventListener("hashchange", () => over.abort(), { signal });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = field.value.replace(/[\s\p{Cf}]/gu, ""); // what cannot be seen was copied by accident
      field.value = "";
      if (!proper(given)) return say(find("#refused"), "No key has signs like that: copy it again.");
      key.set(given);
      return over.abort();
    }, { signal });
  });
}

// Colours of the page: as the system has it, or chosen here.
function themes() {
  const button = find(".theme"), root = document.documentElement, all = ["auto", "light", "dark"];
  const label = () => {
    const now = root.dataset.theme || "auto";
    say(button, now);
    put(button, { "aria-label": `Colours: ${now}. Change them.`, title: "Colours" });
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = all[(all.indexOf(root.dataset.theme || "auto") + 1) % 3];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    try { localStorage.setItem("tarry-theme", next); } catch { /* for this page only */ }
    label();
  });
  label();
}

addEventListener("hashchange", () => reading.abort());
find(".pick select").addEventListener("change", (event) => { location.hash = event.target.value ? address(event.target.value) : "#/"; });
find("#gone .again").addEventListener("click", () => reading.abort());
addEventListener("keydown", (event) => {
  const field = find(".filter input");
  if (event.key === "/" && !find(".filter").hidden && !event.target.matches("input, select")) {
    event.preventDefault();
    field.focus();
  }
});
themes();
run();
