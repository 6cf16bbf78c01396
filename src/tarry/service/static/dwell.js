// dwell.js of tarry: shows one of several variants of a page and reports for how long it is looked at.
//   <script src="https://tarry.example/dwell.js" data-agent="front-page" data-key="PAGE-KEY"></script>
//   <section data-tarry-arm="quiz">...</section>
//   <section data-tarry-arm="essay" hidden>...</section>
// Without this script, or without the server, the page stays as it was written.
(() => {
  "use strict";
  const tag = document.currentScript;
  const set = tag.dataset;
  const server = new URL(set.server || tag.src, location).origin;
  const idleAfter = 1000 * (set.idle || 60); // without a sign of life nobody is looking any longer
  const patience = +(set.patience || 1000); // ms for which the page waits for the choice

  let play = null; // the one that is under way: {token, beat, most, seen}, times in ms
  let arm = null; // the variant that is shown by choice
  let total = 0; // ms that the last play took
  let turn = 0; // goes up with every new play, so that answers to earlier ones are ignored
  let mark = 0; // up to when time was counted
  let active = 0; // the last sign of life
  let looking = false;
  let timer = 0;
  let allowed = set.consent === "given" || (!set.consent && !refuses());

  // Sheets made so are not stopped by a page's policy against inline styles.
  const sheet = (rule) => {
    const made = new CSSStyleSheet();
    made.replaceSync("[data-tarry-arm]" + rule);
    return made;
  };
  const veil = sheet("{visibility:hidden!important}"); // while the choice is awaited
  document.adoptedStyleSheets.push(sheet("[hidden]{display:none!important}"));

  function refuses() {
    return navigator.globalPrivacyControl === true || navigator.doNotTrack === "1";
  }

  function cover(on) {
    const others = document.adoptedStyleSheets.filter((sheet) => sheet !== veil);
    document.adoptedStyleSheets = on ? [...others, veil] : others;
  }

  const variants = () => [...document.querySelectorAll("[data-tarry-arm]")];

  function show(arm) {
    for (const element of variants()) element.hidden = element.dataset.tarryArm !== arm;
  }

  function post(path, body, last) {
    const text = JSON.stringify(body);
    const url = server + "/v1/page/" + path;
    if (last && navigator.sendBeacon && navigator.sendBeacon(url, text)) return Promise.resolve();
    return fetch(url, { method: "POST", body: text, keepalive: !!last, credentials: "omit", headers: { "Content-Type": "text/plain" } });
  }

  // Asks for a variant and shows it; only a play that was shown is confirmed, and so counted.
  async function begin() {
    if (!allowed || document.prerendering || document.visibilityState !== "visible") return;
    const mine = ++turn;
    cover(true);
    const late = setTimeout(() => { if (mine === turn) { turn++; cover(false); } }, patience);
    let made = null;
    try {
      const answer = await post("ask", { key: set.key || "", agent: set.agent, context: context() });
      if (answer.ok) made = await answer.json();
    } catch { /* the server is away */ }
    clearTimeout(late);
    if (mine !== turn) return; // too late: the page has shown its first variant, or has gone on
    await ready();
    if (mine !== turn) return;
    const known = new Set(variants().map((element) => element.dataset.tarryArm));
    if (made && (known.has(made.arm) || !known.size)) {
      arm = made.arm;
      play = { token: made.token, beat: 1000 * made.heartbeat, most: 1000 * made.max_delay, seen: 0 };
      if (known.size) show(arm);
      start();
    }
    cover(false);
    document.dispatchEvent(new CustomEvent("tarry", { detail: { arm } }));
  }

  function context() {
    try { return set.context ? JSON.parse(set.context) : undefined; } catch { console.warn("tarry: data-context is no JSON"); }
  }

  function ready() {
    if (document.readyState !== "loading") return null;
    return new Promise((go) => document.addEventListener("DOMContentLoaded", go, { once: true }));
  }

  function start() {
    active = mark = performance.now();
    looking = seen();
    report();
    clearInterval(timer);
    timer = setInterval(report, play.beat);
  }

  const seen = () => document.visibilityState === "visible" && document.hasFocus();

  // Adds the time since the last look, as far as somebody was looking.
  function count() {
    const now = performance.now();
    if (play && looking) play.seen += Math.max(Math.min(now, active + idleAfter) - mark, 0);
    mark = now;
    looking = seen();
    if (play && play.seen >= play.most) finish(); // nothing after D
  }

  // Reports are of all the time so far: one that is lost is made good by the next.
  function report(last) {
    count();
    if (!play || (play.sending && last !== true)) return;
    const mine = play;
    mine.sending = true;
    post("alive", { token: mine.token, seconds: mine.seen / 1000 }, last === true)
      .then((answer) => {
        const status = answer ? answer.status : 204;
        if (status >= 400 && status < 500 && status !== 429) stop(mine); // it is over for the server
      })
      .catch(() => {}) // offline: the next report says it all
      .finally(() => { mine.sending = false; });
  }

  function stop(mine) {
    if (play !== mine) return;
    play = null;
    total = Math.min(mine.seen, mine.most);
    clearInterval(timer);
  }

  function finish() {
    const mine = play;
    if (!mine) return;
    stop(mine);
    post("end", { token: mine.token, seconds: Math.min(mine.seen, mine.most) / 1000 }, true).catch(() => {});
  }

  function alive() {
    if (play && performance.now() - active > 250) {
      count();
      active = performance.now();
    }
  }

  function back() {
    count();
    active = performance.now();
  }

  function changed() {
    if (!turn) begin(); // the first time that anybody sees the page
    else if (document.visibilityState === "hidden") report(true); // it may be the last that is heard
    else back();
  }

  function leave() {
    count();
    finish();
    turn++;
    arm = null;
    cover(false);
  }

  document.addEventListener("visibilitychange", changed);
  addEventListener("focus", back);
  addEventListener("blur", count);
  addEventListener("online", report);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => { if (event.persisted) begin(); });
  document.addEventListener("prerenderingchange", changed);
  for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "scroll", "touchmove", "timeupdate"])
    addEventListener(kind, alive, { passive: true, capture: true });

  window.tarry = {
    get arm() { return arm; },
    get seconds() { count(); return (play ? play.seen : total) / 1000; },
    next() { leave(); return begin(); }, // another view of a page that is never loaded anew
    end: leave,
    consent(given) {
      const before = allowed;
      allowed = given === true;
      if (allowed && !before) begin();
      if (!allowed && play) { stop(play); turn++; } // nothing more is sent
    },
  };
  begin();
})();
