// The list of experiments, with a search by name.

import { el, words } from "./dom.js";
import { plural } from "./words.js";
import { get } from "./service.js";

const EVERY = 3000; // milliseconds between two looks

export function link(name) {
  return `#/?${new URLSearchParams({ experiment: name })}`;
}

export function showList(main, refused) {
  const search = el("input", { id: "search", type: "search", placeholder: "Search by name", "aria-label": "Search by name" });
  const count = el("p", { class: "faint", role: "status" });
  const list = el("ul", { class: "list" });
  let over = false, timer = null, asked = 0, before = "";

  async function look() {
    clearTimeout(timer);
    const mine = ++asked;
    try {
      const found = await get("v1/experiments", { search: search.value });
      if (over || mine !== asked) return;
      const text = JSON.stringify(found) + search.value;
      if (text !== before) draw(found);
      before = text;
    } catch (error) {
      if (over || mine !== asked) return;
      if (error.status) return refused(error);
      count.textContent = "The server does not answer; trying again.";
    }
    timer = setTimeout(look, EVERY);
  }

  function draw(found) {
    const here = document.activeElement?.getAttribute?.("href");
    const shown = found.experiments.length;
    count.textContent = shown < found.total ? `${shown} of ${found.total} experiments; search to see others` : plural(found.total, "experiment");
    list.replaceChildren(...found.experiments.map(item));
    if (!found.total) list.append(search.value ? el("li", { class: "nothing", text: "No experiment has such a name." }) : nothing());
    if (here) [...list.querySelectorAll("a")].find((one) => one.getAttribute("href") === here)?.focus();
  }

  function move(event) {
    const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (to === undefined || (event.target !== search && at < 0)) return;
    event.preventDefault();
    (to < 0 ? search : links[Math.min(to, links.length - 1)])?.focus();
  }

  search.addEventListener("input", look);
  main.replaceChildren(el("h1", { text: "Experiments" }), search, count, list);
  main.addEventListener("keydown", move);
  look();
  return () => { over = true; clearTimeout(timer); main.removeEventListener("keydown", move); };
}

function item(one) {
  return el("li", {}, el("a", { href: link(one.name), class: `item ${one.state}` },
    el("span", { class: "badge", text: one.badge }),
    el("span", { class: "name" }, words(one.name)),
    el("span", { class: "headline" }, words(one.headline)),
    el("span", { class: "faint" }, one.facts.join(" · "))));
}

function nothing() {
  return el("li", { class: "nothing" },
    el("p", { text: "The store has no experiments yet. Begin one:" }),
    el("pre", { text: "truebest create prompts --arm short --arm long --bounds 0,1 --store URL" }),
    el("p", { class: "faint", text: "It appears here by itself." }));
}
