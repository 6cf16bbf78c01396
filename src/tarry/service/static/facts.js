// What one wants to know in five seconds: who is ahead, how sure that is, what it has cost, what is out.
import { Keyed, put, say } from "./svg.js";
import { group, interval, percent, shown, span, time, unitFor } from "./words.js";

// Where the choice depends on the request no arm is the best; where arms change, nobody knows what was lost before.
const keys = (doc) => (doc.features.length ? ["chosen", "out"] : ["mean", "sure", ...(doc.follows_change ? [] : ["cost"]), "out"]);

export class Facts {
  constructor(list, place) {
    this.place = place;
    this.boxes = new Keyed(list, (key) => this.box(key));
  }

  box(key) {
    const box = document.createElement("div");
    const part = (kind, word) => box.appendChild(Object.assign(document.createElement(kind), { className: word }));
    box.className = `fact f-${key}`;
    box.head = part("dt", "");
    box.value = part("dd", "value");
    if (key === "sure" || key === "chosen") {
      box.strip = part("dd", "strip");
      put(box.strip, { "aria-hidden": "true" });
      box.pieces = new Keyed(box.strip, () => document.createElement("i"));
    }
    box.note = part("dd", "note");
    return box;
  }

  draw(doc) {
    this.boxes.follow(keys(doc));
    for (const key of keys(doc)) this[key](this.boxes.get(key), doc);
  }

  mean(box, doc) {
    const best = doc.arms.find((arm) => arm.name === doc.leader);
    say(box.head, best ? `Mean of ${shown(best.name, 20)}${doc.follows_change ? " at present" : ""}` : "Mean");
    say(box.value, best ? time(best.mean, best.high - best.low) : "–");
    say(box.note, best ? `95 % interval ${interval(best.low, best.high, unitFor(best.mean || best.high))}` : doc.arms.length ? "nothing has come back yet" : "there is no arm");
  }

  sure(box, doc) {
    const likely = doc.arms.filter((arm) => arm.best).sort((a, b) => b.best - a.best);
    const second = likely.find((arm) => arm.name !== doc.leader);
    const known = doc.leader !== null && doc.choices > 1;
    const of = `to be the best of ${group(doc.choices)}${doc.choices < doc.arms.length ? " that can be chosen" : ""}`;
    say(box.head, "How sure");
    say(box.value, known ? percent(Math.min(Math.max(doc.sure, 1e-9), 1 - 1e-9)) : "–");
    this.strip(box, known ? likely.map((arm) => [arm.name, arm.best]) : []);
    say(box.note, doc.choices < 2 ? (doc.arms.length > 1 ? "no other arm can be chosen" : doc.arms.length ? "there is no other arm" : "there is no arm") : second && known ? `${of}; next is ${shown(second.name, 18)}, ${percent(second.best)}` : of);
  }

  chosen(box, doc) {
    const [first, second] = [...doc.arms].sort((a, b) => b.share - a.share);
    say(box.head, first && first.share ? `Chosen most: ${shown(first.name, 20)}` : "Chosen most");
    say(box.value, first && first.share ? percent(first.share) : "–");
    this.strip(box, doc.arms.map((arm) => [arm.name, arm.share]).sort((a, b) => b[1] - a[1]));
    say(box.note, second && second.share ? `of the last 100; next is ${shown(second.name, 18)}, ${percent(second.share)}` : "of the last 100");
  }

  strip(box, parts) {
    const large = parts.slice(0, 8).filter(([, part]) => part >= 0.004);
    box.pieces.follow(large.map(([name]) => name));
    for (const [name, part] of large) {
      put(box.pieces.get(name), { class: `fill-${this.place(name)}` });
      box.pieces.get(name).style.flexGrow = String(Math.round(1000 * part));
    }
  }

  cost(box, doc) {
    const cost = doc.cost_of_learning;
    say(box.head, "Cost of finding out");
    say(box.value, cost ? time(cost.value) : "–");
    const unit = cost ? unitFor(cost.high) : null;
    say(box.note, cost ? `95 % interval ${interval(cost.low, cost.high, unit)}, ${time(cost.value / Math.max(doc.plays, 1))} per play` : "against always choosing the best arm");
  }

  out(box, doc) {
    const old = doc.arms.filter((arm) => arm.oldest !== null).sort((a, b) => b.oldest - a.oldest)[0];
    say(box.head, "Plays out now");
    say(box.value, group(doc.out));
    say(box.note, old ? `oldest ${span(old.oldest)}, of ${shown(old.name, 18)}` : "nothing is under way");
  }
}
