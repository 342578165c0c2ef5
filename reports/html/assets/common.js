"use strict";
// What all pages have: helpers, colors of JSON, copying, themes. The findings can be read without scripts. All texts are
// added as text, never as markup.
const root = document.documentElement;
root.classList.add("scripted");
const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const make = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};

// indented returns JSON with a line for each value. It does not change numbers and escapes, and accepts cut text.
const TOKEN = /("(?:\\.|[^"\\])*"?)(\s*:)?|[{}[\],]|[^\s"{}[\],]+/g;
const indented = (text) => {
  let out = "", depth = 0, last = "";
  for (const [token, string, colon] of text.matchAll(TOKEN)) {
    const closes = token === "}" || token === "]", opened = last === "{" || last === "[";
    if (closes) depth = Math.max(depth - 1, 0);
    if (last === "," || closes !== opened) out += "\n" + "  ".repeat(Math.min(depth, 60));
    out += colon ? string + ": " : token;
    if (token === "{" || token === "[") depth++;
    last = token;
  }
  return out;
};
// color puts the strings, keys and numbers of JSON into elements.
const color = (text) => {
  const out = document.createDocumentFragment();
  for (const [token, string, colon, other] of text.matchAll(/("(?:\\.|[^"\\])*"?)(:)?|([^\s"{}[\],]+)|[\s{}[\],]+/g)) {
    if (string !== undefined) out.append(make("span", colon ? "k" : "s", string), colon || "");
    else out.append(other ? make("span", "n", other) : token);
  }
  return out;
};
const paint = (pre, text) => {
  if (!/^\s*[[{]/.test(text)) pre.textContent = text;
  else pre.append(color(indented(text)));
};
for (const pre of all("pre.json")) {
  if (!/^\s*[[{"}\]\d]/.test(pre.textContent)) continue;
  if (pre.childNodes.length === 1 && !pre.textContent.includes("\n")) { // a cut body has no indentation
    const text = pre.textContent;
    pre.textContent = "";
    paint(pre, text);
    continue;
  }
  for (const node of [...pre.childNodes]) {
    const text = node.textContent;
    if (node.nodeType === Node.TEXT_NODE) node.replaceWith(color(text));
    else node.replaceChildren(color(text));
  }
}

// Only a box that scrolls must be reachable by the keyboard.
const scrolls = (pre) => {
  if (pre.textContent.length <= 3000 && pre.textContent.split("\n").length <= 25) return;
  pre.classList.add("long");
  pre.tabIndex = 0;
};

// ---- copying curl lines
const copy = async (button) => {
  const pre = one("pre", button.parentElement);
  try {
    await navigator.clipboard.writeText(pre.textContent);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(pre);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  }
  button.textContent = "copied";
  setTimeout(() => { button.textContent = "copy"; }, 1500);
};
document.addEventListener("click", (event) => {
  if (event.target.matches(".copy")) copy(event.target);
});

// ---- theme: light, dark, system
const themes = ["light dark", "light", "dark"];
const store = { get: () => { try { return localStorage.getItem("agentconform-theme"); } catch { return null; } },
  set: (v) => { try { localStorage.setItem("agentconform-theme", v); } catch { /* the theme is not stored */ } } };
const setTheme = (theme) => {
  root.style.colorScheme = theme;
  one("#theme").textContent = { "light dark": "theme: system", light: "theme: light", dark: "theme: dark" }[theme];
};
const nextTheme = () => {
  const theme = themes[(themes.indexOf(root.style.colorScheme) + 1) % themes.length];
  setTheme(theme);
  store.set(theme);
};
setTheme(themes.includes(store.get()) ? store.get() : themes[0]);
one("#theme").addEventListener("click", nextTheme);
