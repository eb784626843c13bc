// What the page says of an experiment, part by part.

import { el, table, words } from "./dom.js";
import { mark } from "./charts.js";
import { duration, moment, number, percent, plural, range, rough } from "./words.js";

const MOST_CHIPS = 20;

export function tiles(view) {
  const now = view.status;
  const tile = (what, value, ...more) => el("div", {}, el("dt", { text: what }), el("dd", { text: value }),
    ...more.filter(Boolean).map((text) => el("dd", { class: "faint", text })));
  return [
    tile("Chance of a wrong answer", now.promise === null ? "not proven" : `at most ${percent(now.promise)}`,
      now.promise === null ? "see below why" : `asked for: ${percent(now.delta)}`),
    tile("How much longer", ...longer(view)),
    tile("Samples so far", number(now.samples), [rounds(now), view.pace ? `${number(view.pace, 2)} a second lately` : ""].filter(Boolean).join(" · ")
      || `of ${plural(now.arms.length, "option")}`, now.waiting && view.state !== "decided" ? `${number(now.waiting)} more wait for an earlier pull` : ""),
  ];
}

function rounds(now) {
  if (now.rounds === null) return "";
  if (now.items === null) return `in ${plural(now.rounds, "round")}`;
  return `on ${number(now.rounds)} of ${plural(now.items, "item")}`;
}

// A range, and what its ends are.
function longer(view) {
  const { samples, low, high, reason, words: said } = view.forecast;
  if (view.state === "decided") return ["nothing", "it is decided"];
  if (view.state === "stopped") return ["nothing", "it was stopped by hand"];
  if (view.state === "suspended") return ["unknown", "nothing is asked until that is settled"];
  if (samples === null) return ["unknown", reason.replace(/^no forecast:? ?/, "") || "no forecast yet"];
  if (reason) return ["one pull", reason];
  if (low === null || high === null) return ["too early to say", "the lead over the closest rival is within one standard error, the usual size of chance"];
  const time = view.pace ? `${range(low / view.pace, high / view.pace, duration)} at this pace` : "";
  return [said, time || "a rough guess"];
}

// What the ends of that range are.
export function outlook(view) {
  const { samples, low, reason } = view.forecast;
  if (!["undecided", "empty"].includes(view.state) || samples === null || reason || low === null) return [];
  return ["How much longer: the ends are what it takes if the lead over the closest rival is one standard error (the usual size of chance) larger, or smaller, than it looks."];
}

export function sure(view) {
  const weaker = view.status.caveats.filter((one) => one.effect !== "informs");
  return [
    ...view.sureness.map((sentence) => el("p", {}, words(sentence))),
    weaker.length ? el("ul", { class: "weaker" }, ...weaker.map((one) => el("li", {}, el("b", { text: one.effect === "voids" ? "Nothing is promised: " : "The promise is weaker: " }), words(`${one.sentence}.`)))) : null,
  ];
}

export function race(view) {
  const now = view.status;
  const within = now.in_the_race ?? now.arms.filter((arm) => !view.behind.includes(arm));
  const without = now.arms.filter((arm) => !within.includes(arm));
  const first = (arms) => [...arms].sort((a, b) => (b === now.leader) - (a === now.leader) || now.pulls[b] - now.pulls[a]).slice(0, MOST_CHIPS);
  const chips = (arms, kind) => el("ul", { class: `chips ${kind}` }, ...first(arms).map((arm) =>
    el("li", {}, words(arm))),
    arms.length > MOST_CHIPS ? el("li", { text: `and ${arms.length - MOST_CHIPS} more` }) : null);
  const over = view.state === "decided", best = now.tied.length || within.length === 1;
  const none = (text) => el("p", { class: "faint", text });
  return [
    el("h3", { text: `${over && best ? "The best" : over ? "May be the best" : "May still be the best"} (${within.length})` }),
    within.length ? chips(within, "in") : none("None: each option loses to another one."),
    el("h3", { text: `Ruled out (${without.length})` }),
    without.length ? chips(without, "out") : none(over ? "None." : "None yet."),
  ];
}

export function armsTable(view, drawn) {
  const now = view.status, total = Math.max(1, now.samples);
  const span = Object.values(now.intervals).flat().filter((x) => x !== null);
  const ends = [Math.min(0, ...span), Math.max(0, ...span)], wins = now.compare === "wins";
  const order = [...now.arms].sort((a, b) => (b === now.leader) - (a === now.leader) || now.pulls[b] - now.pulls[a]);
  const rows = order.map((arm) => {
    const [low, high] = now.intervals[arm] ?? [null, null];
    const at = drawn.indexOf(arm), known = low !== null && high !== null;
    const none = arm === now.leader || view.state === "decided" ? "–" : "not known yet";
    return [
      el("span", { class: "arm" }, at < 0 ? null : mark(at), words(arm)), standing(view, arm), number(now.means[arm]),
      number(now.deviations[arm], 3), `${number(now.pulls[arm])} (${percent(Number((now.pulls[arm] / total).toFixed(3)))})`,
      number(now.pending[arm]), known ? (wins ? record(now, arm) : between(low, high)) : none,
      known ? bar(low, high, ends, view.behind.includes(arm)) : el("span"),
    ];
  });
  return [
    el("p", { class: "faint", text: view.which }),
    view.ends && !wins ? el("p", { class: "faint", text: `Of the last column: ${view.ends}.` }) : null,
    table(`Every option: where it stands, its mean, and ${wins ? "how often the leader wins and loses against it" : "by how much the leader is better"}`,
      ["Option", "Standing", "Mean", "SD", "Samples", "Pending", wins ? "Leader wins – loses" : "Leader is better by", ""], rows,
      ["", "short", "number", "number minor", "number", "number minor", "number", "drawn"]),
  ];
}

function standing(view, arm) {
  const now = view.status, decided = view.state === "decided";
  const where = arm === now.decision ? (now.tied.length ? "best, tied" : "best") : now.tied.includes(arm) ? "best, tied"
    : arm === now.leader ? "leads" : view.behind.includes(arm) || now.beaten[arm] ? "ruled out" : decided ? "not ruled out" : "in the race";
  return arm === now.control ? `${where} (control)` : where;
}

// An interval in words; what is next to nothing is 0.
export function between(low, high) {
  return `${number(low > 0 && low < 1e-3 * (high - low) ? 0 : low, 3)} to ${number(high, 3)}`;
}

export function record(now, arm) {
  const [won, lost] = now.wins[arm] ?? [0, 0];
  return `${number(won)} – ${number(lost)}`;
}

export function control(view) {
  const now = view.status, found = Object.entries(now.against_control);
  if (!now.control) return [];
  const span = found.flatMap(([, ends]) => ends).filter((x) => x !== null);
  const ends = [Math.min(0, ...span), Math.max(0, ...span)];
  const rows = found.map(([arm, [low, high]]) => {
    const sure = now.better_than_control?.includes(arm) || (arm === now.decision && view.best_is_better), known = low !== null && high !== null;
    return [el("span", { class: "arm" }, words(arm)), sure ? "better" : "not proven",
      known ? between(low, high) : "not known yet", known ? bar(low, high, ends, sure) : el("span")];
  });
  const unit = now.compare === "wins" ? "likelier to win a round against the control than to lose it" : "better than the control";
  return [
    el("h2", {}, "Against the control, ", words(now.control)),
    view.versus_control ? el("p", {}, words(view.versus_control)) : null,
    el("p", { class: "faint", text: `By how much each other option is ${unit}. ${view.control_ends}` }),
    table("Every other option against the control", ["Option", "Standing", "Better by", ""], rows, ["", "short", "number", "drawn"]),
  ];
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
