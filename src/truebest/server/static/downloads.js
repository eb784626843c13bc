// The log and the report as files, and the charts as a picture.

import { el } from "./dom.js";
import { picture } from "./charts.js";
import { address } from "./service.js";

export function downloads(name, course, view) {
  const file = (text, path, query) => el("a", { class: "button", href: address(path, { experiment: name, ...query }), download: true, text });
  const png = el("button", { type: "button", text: "Charts (PNG)" });
  png.addEventListener("click", async () => {
    const charts = course.all().filter((chart) => chart.plot && !chart.figure?.hidden);
    const blob = await picture(name, view().headline, charts);
    const link = el("a", { href: URL.createObjectURL(blob), download: `${name.replace(/[^A-Za-z0-9_-]+/g, "_") || "charts"}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  return el("p", { class: "downloads" },
    file("Log (CSV)", "v1/export", { format: "csv" }), file("Log (JSON)", "v1/export", { format: "json" }), png,
    file("Report (HTML)", "v1/report", {}));
}
