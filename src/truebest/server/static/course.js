// The charts of an experiment, and the points that they show.

import { el, words } from "./dom.js";
import { linesChart, mark, rivalChart } from "./charts.js";
import { number, percent } from "./words.js";

const KEYS = ["means", "low", "high", "pulls"];

export class Course {
  constructor(arms) {
    this.arms = arms;
    this.samples = [];
    this.points = Object.fromEntries(KEYS.map((key) => [key, arms.map(() => [])]));
    this.rivals = el("div", { class: "charts rivals" });
    this.frames = [];
    this.pairs = arms.map((arm) => {
      const box = el("div", { class: "chart", role: "img" });
      const state = el("span", { class: "faint" });
      const figure = el("figure", {}, el("figcaption", {}, words(arm), state), box);
      this.rivals.append(figure);
      return Object.assign(rivalChart(box), { figure, state, arm });
    });
    const wide = (title, ...how) => {
      const box = el("div", { class: "chart", role: "img", "aria-label": `${title} of each option over time; the table of the options has the numbers` });
      return Object.assign(linesChart(box, arms, ...how), { box, title });
    };
    this.means = wide("Means", (n) => number(n, 4));
    this.shares = wide("Share of the samples", percent, [0, 1]);
    this.redraw = () => {
      this.all().forEach((chart) => chart.redraw());
      this.frames.forEach((frame) => frame.querySelectorAll(".mark").forEach((old, i) => old.replaceWith(mark(i))));
    };
    document.addEventListener("themechange", this.redraw);
  }

  all() {
    return [...this.pairs, this.means, this.shares];
  }

  // A chart with what its lines mean; drawn again when the theme changes, as the colours do.
  wide(chart) {
    const legend = el("ul", { class: "legend" }, ...this.arms.map((arm, i) => el("li", {}, mark(i), words(arm))));
    const what = el("p", { class: "faint", text: `${chart.title} of each option, after as many samples as the axis below says.` });
    this.frames.push(el("div", { class: "charts" }, what, legend, chart.box));
    return this.frames.at(-1);
  }

  add(points) {
    this.samples.push(...points.samples);
    for (const key of KEYS) this.points[key].forEach((list, i) => list.push(...points[key][i]));
  }

  // The points, and where it stands now.
  draw({ now, charts, mark, titles }) {
    const [samples] = now.samples, fresh = samples > (this.samples.at(-1) ?? 0);
    const x = fresh ? [...this.samples, samples] : this.samples;
    const withNow = (key) => this.points[key].map((list, i) => (fresh ? [...list, now[key][i][0]] : list));
    const means = withNow("means"), lows = withNow("low"), highs = withNow("high"), pulls = withNow("pulls");
    this.arms.forEach((arm, i) => {
      const chart = this.pairs[i], { said, look, state } = charts[i];
      const shown = arm !== now.centre[0] && highs[i].some((value) => value !== null);
      chart.figure.hidden = !shown;
      chart.box.setAttribute("aria-label", said);
      chart.title = `${titles.rivals}: ${arm}`;
      if (chart.look !== look || chart.mark !== mark) {
        Object.assign(chart, { look, mark });
        chart.state.textContent = state;
        chart.redraw();
      }
      if (shown) chart.draw([x, lows[i], highs[i]]);
    });
    this.rivals.classList.toggle("nothing", this.pairs.every((chart) => chart.figure.hidden));
    this.frames.forEach((frame) => frame.classList.toggle("nothing", !x.length));
    if (!x.length) return;
    this.means.draw([x, ...means]);
    this.shares.draw([x, ...pulls.map((counts) => counts.map((n, at) => n / x[at]))]);
  }

  destroy() {
    document.removeEventListener("themechange", this.redraw);
    this.all().forEach((chart) => chart.destroy());
  }
}
