// Talks with the server: the key, plain answers, and server-sent events read with fetch, since
// EventSource cannot send a key.

const KEPT = "tarry-key";
const SILENCE = 40000; // ms without even a sign of life: the connection is dead

// What a header can hold.
export const proper = (value) => /^[\x21-\x7e]*$/.test(value);

export const key = {
  get() {
    let kept = this.here || "";
    try { kept = sessionStorage.getItem(KEPT) || ""; } catch { /* for this page only */ }
    return proper(kept) ? kept : "";
  },
  set(value) { this.here = value; try { sessionStorage.setItem(KEPT, value); } catch { /* for this page only */ } },
};

export class Refused extends Error {
  constructor(status, detail) {
    super(detail || `The server answered with status ${status}.`);
    this.status = status;
  }
}

function headers() {
  const secret = key.get();
  return secret ? { Authorization: `Bearer ${secret}` } : {};
}

async function sent(path, signal) {
  const answer = await fetch(path, { headers: headers(), signal, cache: "no-store" });
  if (answer.ok) return answer;
  let detail = "";
  try { detail = (await answer.json()).detail; } catch { /* not ours */ }
  throw new Refused(answer.status, detail);
}

export async function get(path) {
  return (await sent(path, AbortSignal.timeout(10000))).json();
}

// Calls `heard` with each document of the event `view`, and with null at a sign of life; throws when the
// stream ends or falls silent.
export async function follow(path, signal, heard) {
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener("abort", stop);
  let watch = setTimeout(stop, SILENCE);
  try {
    const answer = await sent(path, own.signal);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error("The server has closed the connection.");
      clearTimeout(watch);
      watch = setTimeout(stop, SILENCE);
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      const views = parts.filter((part) => part.startsWith("event: view"));
      if (views.length) heard(JSON.parse(data(views[views.length - 1]))); // earlier ones are old news
      else if (parts.length) heard(null);
    }
  } finally {
    clearTimeout(watch);
    signal.removeEventListener("abort", stop);
    own.abort();
  }
}

function data(event) {
  return event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
}
