// What the page says of an experiment, part by part.

import { el, table, words } from "./dom.js";
import { mark } from "./charts.js";
import { duration, moment, number, percent, plural, range, rough } from "./words.js";

const MOST_CHIPS = 20;

export function tiles(view) {
  const now = view.status;
  const tile = (what, value, more) => el("div", {}, el("dt", { text: what }), el("dd", { text: value }), el("dd", { class: "faint", text: more }));
  const pace = view.pace ? `${number(view.pace, 2)} a second lately` : `of ${plural(now.arms.length, "option")}`;
  return [
    tile("Chance of a wrong answer", now.promise === null ? "not proven" : `at most ${percent(now.promise)}`,
      now.promise === null ? "see below why" : `asked for: ${percent(now.delta)}`),
    tile("How much longer", ...longer(view)),
    tile("Samples so far", number(now.samples), now.waiting && view.state !== "decided" ? `${number(now.waiting)} more wait for an earlier pull` : pace),
  ];
}

function longer(view) {
  const { samples, least, most, reason } = view.forecast;
  if (view.state === "decided") return ["nothing", "it is decided"];
  if (view.state === "stopped") return ["nothing", "it was stopped by hand"];
  if (view.state === "suspended") return ["unknown", "nothing is asked until that is settled"];
  if (samples === null || least === null) return ["unknown", reason.replace(/^no forecast:? ?/, "") || "no forecast yet"];
  if (reason) return ["one pull", reason];
  const time = view.pace ? `${range(least / view.pace, most / view.pace, duration)} at this pace, ` : "";
  return [`${range(least, most, rough)} samples`, `${time}if the means are as estimated`];
}

export function sure(view) {
  const weaker = view.status.caveats.filter((one) => one.effect !== "informs");
  return [
    ...view.sureness.map((sentence) => el("p", {}, words(sentence))),
    weaker.length ? el("ul", { class: "weaker" }, ...weaker.map((one) => el("li", {}, el("b", { text: one.effect === "voids" ? "Nothing is promised: " : "The promise is weaker: " }), words(`${one.sentence}.`)))) : null,
  ];
}

export function race(view) {
  const now = view.status, out = (arm) => arm in view.out || view.behind.includes(arm);
  const within = now.in_the_race ?? now.arms.filter((arm) => !out(arm));
  const without = now.arms.filter((arm) => !within.includes(arm));
  const first = (arms) => [...arms].sort((a, b) => (b === now.leader) - (a === now.leader) || now.pulls[b] - now.pulls[a]).slice(0, MOST_CHIPS);
  const chips = (arms, kind) => el("ul", { class: `chips ${kind}` }, ...first(arms).map((arm) =>
    el("li", {}, words(arm), view.out[arm] ? el("span", { class: "faint", text: ` · ${view.out[arm]}` }) : null)),
    arms.length > MOST_CHIPS ? el("li", { text: `and ${arms.length - MOST_CHIPS} more` }) : null);
  const title = view.state === "decided" && within.length === 1 ? "The best" : "May still be the best";
  return [
    el("h3", { text: `${title} (${within.length})` }), chips(within, "in"),
    el("h3", { text: `Ruled out (${without.length})` }),
    without.length ? chips(without, "out") : el("p", { class: "faint", text: "None yet." }),
  ];
}

export function armsTable(view, drawn) {
  const now = view.status, total = Math.max(1, now.samples);
  const span = Object.values(now.intervals).flat().filter((x) => x !== null);
  const ends = [Math.min(0, ...span), Math.max(0, ...span)];
  const order = [...now.arms].sort((a, b) => (b === now.leader) - (a === now.leader) || now.pulls[b] - now.pulls[a]);
  const rows = order.map((arm) => {
    const [low, high] = now.intervals[arm] ?? [null, null];
    const at = drawn.indexOf(arm), standing = arm === now.decision ? "best" : arm === now.leader ? "leads" : view.behind.includes(arm) ? "ruled out" : "in the race";
    return [
      el("span", { class: "arm" }, at < 0 ? null : mark(at), words(arm)), standing, number(now.means[arm]),
      number(now.deviations[arm], 3), `${number(now.pulls[arm])} (${percent(Number((now.pulls[arm] / total).toFixed(3)))})`,
      number(now.pending[arm]), low === null || high === null ? (arm === now.leader ? "–" : "not known yet") : `${number(low, 3)} to ${number(high, 3)}`,
      low === null || high === null ? el("span") : bar(low, high, ends, view.behind.includes(arm)),
    ];
  });
  return table("Every option: where it stands, its mean, and by how much the leader is better",
    ["Option", "Standing", now.minimize ? "Mean (small is good)" : "Mean", "SD", "Samples", "Pending", "Leader is better by", ""], rows,
    ["", "short", "number", "number", "number", "number", "number", "drawn"]);
}

// An interval on the axis of all of them; the line marks no difference.
function bar(low, high, [left, right], sure) {
  const place = (x) => (right > left ? (100 * (x - left)) / (right - left) : 50);
  return el("svg:svg", { class: `interval ${sure ? "sure" : "open"}`, viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    el("svg:line", { class: "zero", x1: place(0), x2: place(0), y1: 0, y2: 12 }),
    el("svg:rect", { x: place(low), width: Math.max(1, place(high) - place(low)), y: 4, height: 4 }));
}

export function workers(view, part) {
  if (!view.workers.length) return [el("p", { class: "faint", text: "Nobody has asked for a pull yet." })];
  const open = part.querySelector("details")?.open;
  const list = table("Workers", ["Worker", "Pending", "Results", "Last heard of"],
    view.workers.slice(0, 100).map((one) => [one.worker, number(one.pending), number(one.results), moment(one.last)]), ["", "number", "number", ""]);
  if (!view.pending.length) return [list, el("p", { class: "faint", text: "No pull is pending." })];
  const more = view.num_pending > view.pending.length ? ` (the first ${view.pending.length} are shown)` : "";
  return [list, el("details", { open }, el("summary", { text: `${plural(view.num_pending, "pending pull")}${more}` }),
    table("Pending pulls", ["Pull", "Option", "Worker", "Since", "Lease ends unless renewed"],
      view.pending.map((one) => [String(one.pull), one.arm, one.worker, moment(one.since), moment(one.until) || "never"])))];
}

export function caveats(view) {
  const notes = view.status.caveats.filter((one) => one.effect === "informs").map((one) => one.sentence);
  if (!notes.length) return [el("p", { text: view.status.caveats.length ? "Nothing but what is said above." : "Nothing unusual was recorded: no failure, no late answer, no correction." })];
  return [el("ul", {}, ...notes.map((note) => el("li", {}, words(`${note}.`))))];
}

const HIDDEN = ["deadline", "check"];

export function logTable(lines, part) {
  const open = part.querySelector("details")?.open, last = lines.at(-1)?.seq ?? 0;
  const details = (one) => one.kind === "created" ? "the settings" : one.kind === "decided" ? `${one.data?.best} is best`
    : Object.entries(one.data ?? {}).filter(([key, value]) => !HIDDEN.includes(key) && value !== null).map(([key, value]) => `${key}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join("; ");
  const rows = [...lines].reverse().map((one) => [String(one.seq), moment(one.time), one.kind, one.pull === null ? "" : String(one.pull), one.arm ?? "", number(one.value, 6), details(one)]);
  return [el("details", { open }, el("summary", { text: `The log: ${plural(last, "line")}${lines.length < last ? `, of which the last ${lines.length} are shown` : ""}` }),
    table("The log, the last line first", ["Line", "Time", "What", "Pull", "Option", "Value", "More"], rows, ["number", "", "", "number", "", "number", ""]))];
}
