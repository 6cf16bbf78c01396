// What one wants to know in five seconds: who is ahead, how sure that is, what it has cost, what is out.
import { Keyed, put, say } from "./svg.js";
import { group, interval, percent, shown, span, time, unitFor } from "./words.js";

const KEYS = ["mean", "sure", "cost", "out"];

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
    if (key === "sure") {
      box.strip = part("dd", "strip");
      put(box.strip, { "aria-hidden": "true" });
      box.pieces = new Keyed(box.strip, () => document.createElement("i"));
    }
    box.note = part("dd", "note");
    return box;
  }

  draw(doc) {
    this.boxes.follow(KEYS);
    const best = doc.arms.find((arm) => arm.name === doc.leader);
    this.mean(this.boxes.get("mean"), best);
    this.sure(this.boxes.get("sure"), doc);
    this.cost(this.boxes.get("cost"), doc);
    this.out(this.boxes.get("out"), doc);
  }

  mean(box, best) {
    say(box.head, best ? `Mean of ${shown(best.name, 20)}` : "Mean");
    say(box.value, best ? time(best.mean, best.high - best.low) : "–");
    say(box.note, best ? `95 % interval ${interval(best.low, best.high, unitFor(best.mean))}` : "nothing has come back yet");
  }

  sure(box, doc) {
    const likely = doc.arms.filter((arm) => arm.best).sort((a, b) => b.best - a.best);
    const second = likely.find((arm) => arm.name !== doc.leader);
    say(box.head, "How sure");
    say(box.value, doc.leader === null || doc.arms.length < 2 ? "–" : percent(Math.min(doc.sure, 1 - 1e-9)));
    const shownPieces = doc.leader === null ? [] : likely.slice(0, 8).filter((arm) => arm.best >= 0.004);
    box.pieces.follow(shownPieces.map((arm) => arm.name));
    for (const arm of shownPieces) {
      const piece = box.pieces.get(arm.name);
      put(piece, { class: `fill-${this.place(arm.name)}` });
      piece.style.flexGrow = String(Math.round(1000 * arm.best));
    }
    say(box.note, doc.arms.length < 2 ? "there is no other arm" : second && doc.leader !== null ? `to be the best of ${group(doc.arms.length)}; next is ${shown(second.name, 18)}, ${percent(second.best)}` : `to be the best of ${group(doc.arms.length)}`);
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
