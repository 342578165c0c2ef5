"use strict";
// Comfort only: without this script the page can be read all the same. All text is put into the page as text, never
// as markup.
(() => {
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

  // ---- the evidence of an exchange, unpacked when it is opened
  const CHUNK = 100;
  const data = all("script.data");
  const unpacked = new Map();
  const exchange = (id) => {
    const at = Math.floor((id - 1) / CHUNK);
    if (!data[at]) return null;
    if (!unpacked.has(at)) unpacked.set(at, JSON.parse(data[at].textContent));
    return unpacked.get(at)[(id - 1) % CHUNK];
  };

  // paint shows JSON with indentation, token by token, so that numbers and escapes stay as they were sent. Text that
  // is cut or no JSON is painted as far as it goes.
  const TOKEN = /("(?:\\.|[^"\\])*"?)(\s*:)?|[{}[\],]|[^\s"{}[\],]+/g;
  const paint = (pre, text) => {
    const start = text.trimStart()[0];
    if (start !== "{" && start !== "[") { pre.textContent = text; return; }
    const out = document.createDocumentFragment();
    let depth = 0, last = "";
    const line = () => out.append("\n" + "  ".repeat(Math.min(depth, 60)));
    for (const [token, string, colon] of text.matchAll(TOKEN)) {
      const closes = token === "}" || token === "]";
      if (closes) depth = Math.max(depth - 1, 0);
      if (last === "," || (closes && last !== "{" && last !== "[") || (!closes && (last === "{" || last === "["))) line();
      if (string !== undefined) {
        out.append(make("span", colon ? "k" : "s", string));
        if (colon) out.append(": ");
      } else if (/^[{}[\],]$/.test(token)) {
        out.append(token);
      } else {
        out.append(make("span", "n", token));
      }
      if (token === "{" || token === "[") depth++;
      last = string !== undefined ? "" : token;
    }
    pre.append(out);
  };

  const side = (title, message) => {
    const section = make("section");
    section.append(make("h5", "", title));
    if (message.h) {
      const headers = make("details", "headers");
      headers.append(make("summary", "", `headers (${message.h.length})`));
      const table = make("table");
      for (const [name, value] of message.h) {
        const row = table.insertRow();
        row.append(make("th", "", name), make("td", "", value));
      }
      headers.append(table);
      section.append(headers);
    }
    if (message.b) {
      const pre = make("pre", "json");
      paint(pre, message.b);
      section.append(pre);
    }
    const note = message.n || (message.b || title === "Request" ? "" : "no body");
    if (note) section.append(make("p", "cut", note));
    return section;
  };

  const show = (details) => {
    if (details.dataset.shown) return;
    details.dataset.shown = "yes";
    const x = exchange(Number(details.id.slice(1)));
    if (!x) return;
    const box = make("div", "exchange");
    const line = make("p", "line");
    line.append(make("code", "", x.u), " ", make("span", "ms", `at ${x.t} ms`));
    box.append(line);
    if (x.e) box.append(make("p", "reason", "no answer: " + x.e));
    if (x.p) {
      const problems = make("ul", "problems");
      for (const p of x.p) problems.append(make("li", "", p));
      box.append(problems);
    }
    const sides = make("div", x.q.b ? "sides" : "sides lone");
    sides.append(side("Request", x.q), side("Answer", x.r));
    box.append(sides);
    if (x.c) {
      const curl = make("div", "curl"), button = make("button", "copy", "copy");
      button.type = "button";
      curl.append(make("pre", "", x.c), button);
      box.append(curl);
    }
    details.append(box);
  };
  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (details.open && details.classList.contains("x")) show(details);
  }, true);

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

  // ---- filters, kept in the address so that a view can be sent to a colleague
  const requirements = all(".req"), parts = all(".part");
  const search = one("#search"), part = one("#part"), shown = one("#shown"), nothing = one("#nothing");
  const chosen = { verdicts: new Set(), levels: new Set() };
  const visible = () => requirements.filter((r) => !r.hidden);

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const r of requirements) {
      const d = r.dataset;
      r.hidden = !((chosen.verdicts.size === 0 || chosen.verdicts.has(d.verdict))
        && (chosen.levels.size === 0 || chosen.levels.has(d.level))
        && (!part.value || part.value === d.part)
        && words.every((w) => d.text.includes(w)));
    }
    for (const p of parts) {
      for (const f of all(".feature", p)) f.hidden = !all(".req", f).some((r) => !r.hidden);
      p.hidden = !all(".feature", p).some((f) => !f.hidden);
    }
    const n = visible().length;
    shown.textContent = n === requirements.length ? `${n} requirements` : `${n} of ${requirements.length}`;
    nothing.hidden = n > 0 || requirements.length === 0;
    for (const name of ["verdicts", "levels"]) {
      for (const b of all("button", one("#" + name))) b.setAttribute("aria-pressed", chosen[name].has(b.dataset.value));
    }
  };

  const remember = () => {
    const state = new URLSearchParams();
    if (search.value) state.set("q", search.value);
    if (part.value) state.set("part", part.value);
    for (const name of ["verdicts", "levels"]) if (chosen[name].size) state.set(name, [...chosen[name]].join(","));
    const text = state.toString();
    try { history.replaceState(null, "", text ? "#?" + text : location.pathname + location.search); } catch { /* some viewers forbid it */ }
  };
  const change = () => { apply(); remember(); };
  const clear = () => {
    search.value = part.value = "";
    chosen.verdicts.clear();
    chosen.levels.clear();
    change();
  };

  for (const name of ["verdicts", "levels"]) {
    one("#" + name).addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const value = button.dataset.value;
      if (!chosen[name].delete(value)) chosen[name].add(value);
      change();
    });
  }
  search.addEventListener("input", change);
  part.addEventListener("change", change);
  one("#clear").addEventListener("click", clear);

  const expand = () => {
    const list = visible(), open = list.some((r) => !r.open);
    for (const r of list) r.open = open;
    one("#expand").textContent = open ? "close all" : "open all";
  };
  one("#expand").addEventListener("click", expand);
  one("#help").addEventListener("click", () => one("#keys").showModal());

  // ---- addresses: #CP-LIST-3 and #x12 open what they name
  const follow = () => {
    const hash = decodeURIComponent(location.hash.slice(1));
    if (hash.startsWith("?")) {
      const state = new URLSearchParams(hash.slice(1));
      search.value = state.get("q") || "";
      part.value = state.get("part") || "";
      for (const name of ["verdicts", "levels"]) chosen[name] = new Set((state.get(name) || "").split(",").filter(Boolean));
      apply();
      return;
    }
    const target = hash && document.getElementById(hash);
    if (!target || target.tagName !== "DETAILS") return;
    if (target.hidden) clear();
    target.open = true;
    target.scrollIntoView({ block: "start" });
    one("summary", target).focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);

  // ---- light, dark, as the system
  const themes = ["light dark", "light", "dark"];
  const store = { get: () => { try { return localStorage.getItem("agentconform-theme"); } catch { return null; } },
    set: (v) => { try { localStorage.setItem("agentconform-theme", v); } catch { /* not kept, no harm */ } } };
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

  // ---- keys
  const step = (by) => {
    const list = visible();
    if (!list.length) return;
    const at = list.indexOf(document.activeElement && document.activeElement.closest(".req"));
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)];
    const summary = one("summary", next);
    summary.focus({ preventScroll: true });
    summary.scrollIntoView({ block: "nearest" });
  };
  const onlyFailed = () => {
    const was = chosen.verdicts.size === 1 && chosen.verdicts.has("failed");
    chosen.verdicts = new Set(was ? [] : ["failed"]);
    change();
  };
  const copyOpen = () => {
    const here = (document.activeElement && document.activeElement.closest(".req[open]")) || one(".req[open]:not([hidden])");
    const button = here && one(".copy", here);
    if (button) copy(button);
  };
  const keys = { "/": () => search.focus(), j: () => step(1), k: () => step(-1), f: onlyFailed, e: expand, t: nextTheme, c: copyOpen, "?": () => one("#keys").showModal() };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || one("#keys").open) return;
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape") {
      if (typing) event.target.blur();
      clear();
      return;
    }
    const action = !typing && keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  // ---- print: what has failed is printed open
  addEventListener("beforeprint", () => { for (const r of requirements) if (r.dataset.verdict === "failed") r.open = true; });

  apply();
  follow();
})();
