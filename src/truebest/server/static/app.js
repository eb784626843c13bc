// Where everything begins: which part of the page is shown, the token, the theme, the keys.

import { el } from "./dom.js";
import { showList } from "./list.js";
import { showOne } from "./one.js";
import { Refused, begin, end } from "./service.js";

const main = document.getElementById("main");
const live = document.getElementById("live");
const leave = document.getElementById("leave");
let leaveOld = () => {};

export function state(kind) {
  const said = { live: "Live", waiting: "Retrying …", "": "" };
  live.className = kind ? `live is-${kind}` : "live";
  live.textContent = said[kind] ?? "";
}

// Whether this browser has a cookie, which no script can see: without one there is nothing to ask for.
function remember(signedIn) {
  try {
    if (signedIn !== undefined) localStorage.setItem("signed-in", signedIn ? "yes" : "no");
    return localStorage.getItem("signed-in") !== "no" && localStorage.getItem("signed-in") !== null;
  } catch {
    return true;
  }
}

function show() {
  if (!remember()) return askForToken();
  leaveOld();
  state("");
  leave.hidden = false;
  const name = new URLSearchParams(location.hash.replace(/^#\/?\??/, "")).get("experiment");
  document.title = name ? `${name} · truebest` : "truebest";
  leaveOld = name === null ? showList(main, refused) : showOne(main, name, state, refused);
}

function refused(error) {
  if (error instanceof Refused && error.status === 401) return askForToken();
  leaveOld();
  leaveOld = () => {};
  state("");
  main.replaceChildren(
    el("section", { class: "verdict broken" },
      el("p", { class: "badge", text: error instanceof Refused ? "Not found" : "No connection" }),
      el("h1", { text: error instanceof Refused ? "There is nothing to show" : "The server does not answer" }),
      el("p", { class: "lead", text: `${error.message}` }),
      el("p", {}, el("a", { href: "#/", text: "All experiments" }), " · ",
        el("button", { type: "button", onclick: show, text: "Try again" }))));
}

function askForToken(problem = "") {
  remember(false);
  leaveOld();
  leaveOld = () => {};
  state("");
  leave.hidden = true;
  const input = el("input", {
    id: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: "false",
    "aria-describedby": "token-help",
  });
  const form = el("form", { class: "token" },
    el("h1", { text: "Which of these is the best?" }),
    el("label", { for: "token", text: "Token" }), input,
    el("button", { type: "submit", class: "main", text: "Show the experiments" }),
    el("p", { id: "token-help", class: "faint", text: "It is what truebest serve printed when it started, or was given." }),
    el("p", { role: "alert", class: "problem", text: problem }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await begin(input.value.trim());
      remember(true);
      show();
    } catch (error) {
      askForToken(error.status === 401 ? "That is not the token of this server." : error.message);
    }
  });
  main.replaceChildren(form);
  input.focus();
}

const THEMES = ["auto", "light", "dark"];
const themeButton = document.getElementById("theme");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const [sign, word] = { auto: ["◐", "System"], light: ["○", "Light"], dark: ["●", "Dark"] }[theme];
  themeButton.replaceChildren(sign, el("span", { class: "word", text: ` ${word}` }));
  themeButton.setAttribute("aria-label", `Theme: ${word}`);
  try { localStorage.setItem("theme", theme); } catch { /* then it is forgotten */ }
  document.dispatchEvent(new Event("themechange"));
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}

let kept = null;
try { kept = localStorage.getItem("theme"); } catch { /* a browser that keeps nothing */ }
setTheme(THEMES.includes(kept) ? kept : "auto");
themeButton.addEventListener("click", nextTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  document.dispatchEvent(new Event("themechange")));
leave.addEventListener("click", async () => {
  try { await end(); } finally { askForToken(); }
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select");
  if (event.key === "Escape") {
    if (typing) event.target.blur();
    if (location.hash.includes("experiment=")) location.hash = "#/";
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (event.key === "t") nextTheme();
    if (event.key === "/") {
      const search = document.getElementById("search");
      if (search) { event.preventDefault(); search.focus(); } else location.hash = "#/";
    }
  }
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address says which experiment is shown
  main.focus();
});
addEventListener("hashchange", () => {
  show();
  if (!main.contains(document.activeElement)) main.focus({ preventScroll: true }); // what had the focus is gone
});
show();
