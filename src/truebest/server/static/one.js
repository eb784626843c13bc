// One experiment, from the answer at the top to the log at the bottom.

import { el, words } from "./dom.js";
import { Stream } from "./service.js";
import { downloads } from "./downloads.js";
import { Course } from "./course.js";
import { armsTable, caveats, control, logTable, race, sure, tiles, workers } from "./parts.js";

const MOST_LINES = 200;

export function showOne(main, name, state, refused) {
  const page = new Page(main, name);
  const stream = new Stream(name, {
    whole: (data) => page.whole(data),
    more: (data) => page.more(data),
    broken: (problem) => page.broken(problem),
    state,
    refused,
  });
  return () => { stream.stop(); page.leave(); };
}

class Page {
  constructor(main, name) {
    Object.assign(this, { main, name, lines: [], view: null, course: null, parts: {} });
    main.replaceChildren(el("p", { class: "faint", text: "Loading …" }));
  }

  build(arms) {
    const part = (key, tag = "div", properties = {}) => (this.parts[key] = el(tag, properties));
    const section = (title, ...children) => el("section", {}, el("h2", { text: title }), ...children);
    this.course = new Course(arms);
    this.main.replaceChildren(
      el("nav", { "aria-label": "Where you are", class: "where" }, el("a", { href: "#/", text: "Experiments" }), " / ", words(this.name)),
      part("said", "p", { class: "unseen", role: "status" }), // for screen readers: when the answer changes, not every number
      part("verdict", "section"),
      part("tiles", "dl", { class: "tiles" }),
      part("outlook", "p", { class: "faint" }),
      part("reading", "p", { class: "faint", role: "status" }),
      section("How sure is that?", part("sure")),
      el("section", {}, part("raceTitle", "h2"), part("race")),
      section("The options", part("arms")),
      part("control", "section"),
      el("section", {}, part("rivalsTitle", "h2"), part("measured", "p", { class: "faint" }), this.course.rivals),
      section("Means", this.course.wide(this.course.means)),
      section("Where the samples went", this.course.wide(this.course.shares)),
      section("Workers and pending pulls", part("workers")),
      section("What else to know", part("caveats")),
      section("What happened", part("log")),
      section("Take it with you", downloads(this.name, this.course, () => this.view)));
  }

  whole(data) {
    this.lines = [];
    this.course?.destroy();
    this.build(data.arms);
    this.more(data);
  }

  more(data) {
    this.view = data.view;
    this.lines = [...this.lines, ...data.lines].slice(-MOST_LINES);
    this.course.add(data.points);
    this.draw();
  }

  draw() {
    const { view, parts } = this;
    parts.verdict.className = `verdict ${view.state}`;
    fill(parts.verdict, el("p", { class: "badge", text: view.badge }),
      el("h1", {}, words(view.headline)), el("p", { class: "lead" }, words(view.answer)),
      ...view.beyond.map((line) => el("p", {}, words(line))),
      view.hold ? el("p", {}, words(view.hold)) : null);
    fill(parts.said, view.headline);
    fill(parts.tiles, ...tiles(view));
    fill(parts.outlook, view.outlook);
    fill(parts.reading, view.reading);
    fill(parts.sure, ...sure(view));
    fill(parts.raceTitle, words(view.titles.race));
    fill(parts.rivalsTitle, words(view.titles.rivals));
    fill(parts.race, ...race(view));
    fill(parts.arms, ...armsTable(view, this.course.arms));
    fill(parts.control, ...control(view));
    fill(parts.measured, view.measured);
    fill(parts.workers, ...workers(view, parts.workers));
    fill(parts.caveats, ...caveats(view));
    fill(parts.log, ...logTable(this.lines, parts.log));
    this.course.draw(view);
    document.title = `${view.headline} · ${this.name}`;
  }

  broken(problem) {
    this.course?.destroy();
    this.course = null;
    this.main.replaceChildren(
      el("nav", { "aria-label": "Where you are", class: "where" }, el("a", { href: "#/", text: "Experiments" }), " / ", words(this.name)),
      el("section", { class: "verdict broken", role: "alert" },
        el("p", { class: "badge", text: "✕ Broken" }),
        el("h1", { text: "This experiment cannot be read" }),
        el("p", { class: "lead" }, words(problem)),
        el("p", { text: "Nothing is concluded from a log that is not intact. This page tries again by itself." })));
  }

  leave() {
    this.course?.destroy();
  }
}

// Replace what a part shows, unless it is the same: what is selected or announced stays.
function fill(part, ...children) {
  const fresh = el("div", {}, ...children);
  const same = fresh.childNodes.length === part.childNodes.length &&
    [...fresh.childNodes].every((node, i) => node.isEqualNode(part.childNodes[i]));
  if (!same) part.replaceChildren(...fresh.childNodes);
}
