// Charts of the course of an experiment, by uPlot: what status said after more and more samples.

import uPlot from "./uPlot.esm.js";
import { el } from "./dom.js";
import { number } from "./words.js";

// Okabe and Ito's colours, which the colour-blind can tell apart; dashes differ, too.
const COLOURS = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b3568f", "#8a6d00", "#3a87b8", "#444444", "#7a4fd0"],
  dark: ["#56b4e9", "#f28e3c", "#2fc79a", "#e39ac4", "#f0e442", "#9ad0f5", "#cccccc", "#b79cff"],
};
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [14, 3, 2, 3, 2, 3], [6, 6], [2, 6], [12, 4]];
const SMALL = 150, LARGE = 240;
const WHOLE = Array.from({ length: 36 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3)); // samples are counted

function look() {
  const css = getComputedStyle(document.documentElement);
  const of = (name) => css.getPropertyValue(name).trim();
  return { text: of("--faint"), line: of("--line"), sure: of("--sure"), open: of("--open"), bad: of("--bad"), dark: of("--dark") === "1" };
}

export function colour(i) {
  return COLOURS[look().dark ? "dark" : "light"][i % 8];
}

export function mark(i) {
  return el("svg:svg", { class: "mark", viewBox: "0 0 28 8", "aria-hidden": "true" },
    el("svg:line", { x1: 0, y1: 4, x2: 28, y2: 4, stroke: colour(i), "stroke-width": 3, "stroke-dasharray": DASHES[i % 8].join(" ") }));
}

function axes(theme, values) {
  const common = { stroke: theme.text, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 }, font: "12px system-ui" };
  return [
    { ...common, size: 30, space: 70, incrs: WHOLE, values: (_, marks) => marks.map((n) => (n >= 1e4 ? `${Number((n / 1e3).toPrecision(4))}k` : String(n))) },
    { ...common, size: 56, space: 34, values: (_, marks) => marks.map(values) },
  ];
}

class Chart {
  constructor(box, height, options) {
    Object.assign(this, { box, height, options, plot: null, data: null });
    this.observer = new ResizeObserver(() => {
      const width = this.width();
      if (this.plot && width !== this.plot.width) this.plot.setSize({ width, height: this.height });
    });
    this.observer.observe(box);
  }

  width() {
    return Math.max(200, Math.floor(this.box.clientWidth));
  }

  draw(data) {
    this.data = data;
    if (this.plot) return this.plot.setData(data);
    const options = { width: this.width(), height: this.height, legend: { show: false }, padding: [8, 12, 0, 0], cursor: { points: { size: 6 }, drag: { x: false, y: false } }, ...this.options(this) };
    this.plot = new uPlot(options, data, this.box);
  }

  redraw() {
    this.plot?.destroy();
    this.plot = null;
    if (this.data) this.draw(this.data);
  }

  destroy() {
    this.observer.disconnect();
    this.plot?.destroy();
    this.plot = null;
  }
}

// By how much one arm was better than another: a band, and a line across at a mark.
export function rivalChart(box) {
  const options = (chart) => {
    const theme = look(), stroke = theme[chart.look ?? "open"], mark = chart.mark ?? 0;
    return {
      scales: { x: { time: false }, y: { range: (_, low, high) => padded(Math.min(low ?? mark, mark), Math.max(high ?? mark, mark)) } },
      axes: axes(theme, (n) => number(n, 3)),
      series: [{}, { stroke, width: 1.5, points: { show: false } }, { stroke, width: 1.5, points: { show: false } }],
      bands: [{ series: [2, 1], fill: `${stroke}40` }],
      hooks: { drawSeries: [across(mark, theme.text)] },
    };
  };
  return new Chart(box, SMALL, options);
}

// One line for each arm.
export function linesChart(box, arms, values, range) {
  const options = () => ({
    scales: { x: { time: false }, y: range ? { range } : { range: (_, low, high) => padded(low ?? 0, high ?? 1) } },
    axes: axes(look(), values),
    series: [{}, ...arms.map((label, i) => ({ label, stroke: colour(i), dash: DASHES[i % 8], width: 2, spanGaps: true, points: { show: false } }))],
  });
  return new Chart(box, LARGE, options);
}

function padded(low, high) {
  const room = high > low ? 0.06 * (high - low) : Math.max(Math.abs(high), 1) * 0.1;
  return [low - room, high + room];
}

function across(mark, stroke) {
  return (plot, series) => {
    if (series !== 2) return;
    const y = plot.valToPos(mark, "y", true), { left, width } = plot.bbox;
    plot.ctx.save();
    plot.ctx.strokeStyle = stroke;
    plot.ctx.lineWidth = 1.5 * devicePixelRatio;
    plot.ctx.beginPath();
    plot.ctx.moveTo(left, y);
    plot.ctx.lineTo(left + width, y);
    plot.ctx.stroke();
    plot.ctx.restore();
  };
}

// All charts with their titles in one picture.
export function picture(title, headline, charts) {
  const css = getComputedStyle(document.body), ratio = devicePixelRatio, gap = 16 * ratio;
  const width = Math.max(640 * ratio, ...charts.map((one) => one.plot.ctx.canvas.width)) + 2 * gap;
  const heights = charts.map((one) => one.plot.ctx.canvas.height + 3 * gap);
  const canvas = el("canvas", { width, height: 6 * gap + heights.reduce((a, b) => a + b, 0) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = css.backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = css.color;
  const write = (text, y, size, weight = "") => {
    pen.font = `${weight} ${size * ratio}px system-ui, sans-serif`;
    pen.fillText(text, gap, y, width - 2 * gap);
  };
  write(headline, 2.2 * gap, 22, "600");
  write(title, 3.8 * gap, 14);
  let y = 5 * gap;
  charts.forEach((one, i) => {
    write(one.title, y + gap, 14, "600");
    pen.drawImage(one.plot.ctx.canvas, gap, y + 2 * gap);
    y += heights[i];
  });
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}
