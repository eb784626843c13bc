// Elements from text alone: names and sentences are never read as HTML.

export function el(tag, properties = {}, ...children) {
  const made = tag.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
    : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "text") made.textContent = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// A name or a sentence: kept from turning the direction of what follows.
export function words(text) {
  return el("bdi", { text: text ?? "" });
}

export function table(caption, header, rows, kinds = []) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "unseen", text: caption }),
      el("thead", {}, el("tr", {}, ...header.map((text, i) =>
        el("th", { scope: "col", class: kinds[i] }, text)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, i) =>
        el(i === 0 ? "th" : "td", { class: kinds[i], scope: i === 0 ? "row" : null },
          typeof cell === "string" ? words(cell) : cell)))))));
}
