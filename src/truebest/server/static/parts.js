// What the page says of an experiment, part by part.

import { el, table, words } from "./dom.js";
import { mark } from "./charts.js";
import { moment, number, plural } from "./words.js";

export function tiles(view) {
  return view.tiles.map(({ title, value, more }) => el("div", {}, el("dt", { text: title }), el("dd", { text: value }),
    ...more.map((text) => el("dd", { class: "faint", text }))));
}

export function sure(view) {
  return [
    ...view.sureness.map((sentence) => el("p", {}, words(sentence))),
    view.weaker.length ? el("ul", { class: "weaker" }, ...view.weaker.map(([what, why]) => el("li", {}, el("b", { text: what }), words(why)))) : null,
  ];
}

export function race(view) {
  return view.race.flatMap(({ kind, title, names, more, none }) => [
    el("h3", { text: title }),
    names.length ? el("ul", { class: `chips ${kind}` }, ...names.map((arm) => el("li", {}, words(arm))), more ? el("li", { text: more }) : null)
      : el("p", { class: "faint", text: none }),
  ]);
}

const MINOR = ["Pending", "Failed", "SD"];

export function armsTable({ arms }, drawn) {
  const kinds = arms.header.map((title, i) => (i === 0 ? "" : i === 1 ? "short" : MINOR.includes(title) ? "number minor" : "number"));
  return [
    ...arms.notes.map((text) => el("p", { class: "faint", text })),
    compared(arms, kinds, (arm) => (drawn.includes(arm) ? mark(drawn.indexOf(arm)) : null)),
  ];
}

export function control({ control: found }) {
  if (!found) return [];
  return [
    el("h2", {}, words(found.title)),
    found.sentence ? el("p", {}, words(found.sentence)) : null,
    el("p", { class: "faint", text: found.note }),
    compared(found, ["", "short", "number"], () => null),
  ];
}

// A row for each option, with its interval as a bar.
function compared({ caption, header, rows }, kinds, sign) {
  const cells = rows.map(({ cells: [arm, ...rest], bar: ends, look }) =>
    [el("span", { class: "arm" }, sign(arm), words(arm)), ...rest, ends ? bar(ends, look) : el("span")]);
  return table(caption, [...header, ""], cells, [...kinds, "drawn"]);
}

// An interval on the axis of all of them, and the line across.
function bar([low, high, zero], look) {
  return el("svg:svg", { class: `interval ${look}`, viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    el("svg:line", { class: "zero", x1: 100 * zero, x2: 100 * zero, y1: 0, y2: 12 }),
    el("svg:rect", { x: 100 * low, width: Math.max(1, 100 * (high - low)), y: 4, height: 4 }));
}

export function workers(view, part) {
  if (!view.workers.length) return [el("p", { class: "faint", text: "No pull has been asked for yet." })];
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
  return [el("ul", {}, ...view.notes.map((note) => el("li", {}, words(note))))];
}

function decided({ best, passed = [], failed = [] }) {
  if (best) return `${best} is best`;
  const parts = [[passed, "passed"], [failed, "failed"]].filter(([arms]) => arms.length);
  return parts.map(([arms, what]) => `${arms.join(", ")} ${what}`).join("; ") || "there is no winner";
}

const HIDDEN = ["deadline", "check"];

export function logTable(lines, part) {
  const open = part.querySelector("details")?.open, last = lines.at(-1)?.seq ?? 0;
  const details = (one) => one.kind === "created" ? "the settings" : one.kind === "decided" ? decided(one.data ?? {})
    : Object.entries(one.data ?? {}).filter(([key, value]) => !HIDDEN.includes(key) && value !== null).map(([key, value]) => `${key}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join("; ");
  const rows = [...lines].reverse().map((one) => [String(one.seq), moment(one.time), one.kind, one.pull === null ? "" : String(one.pull), one.arm ?? "", number(one.value, 6), details(one)]);
  return [el("details", { open }, el("summary", { text: `The log: ${plural(last, "line")}${lines.length < last ? `, of which the last ${lines.length} are shown` : ""}` }),
    table("The log, the last line first", ["Line", "Time", "What", "Pull", "Option", "Value", "More"], rows, ["number", "", "", "number", "", "number", ""]))];
}
