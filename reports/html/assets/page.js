"use strict";
(() => {
  // The findings can be read without this script. It adds all texts as text, never as markup.
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

  // unpack returns functions that read the items of data elements. An element is parsed when its first item is read.
  const unpack = (selector, size) => {
    const elements = all(selector), unpacked = [];
    const chunk = (at) => unpacked[at] || (unpacked[at] = JSON.parse(elements[at].textContent));
    return { get: (index) => elements[Math.floor(index / size)] && chunk(Math.floor(index / size))[index % size], all: () => elements.flatMap((_, at) => chunk(at)) };
  };
  const evidence = unpack("script.data", 100), lines = unpack("script.rows", 1000);

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

  const side = (title, message) => {
    const section = make("div");
    section.append(make("p", "cap", title));
    if (message.h) {
      const headers = make("details", "headers");
      headers.append(make("summary", "", `headers (${message.h.length})`));
      const table = make("table");
      for (const [name, value] of message.h) {
        const row = table.insertRow();
        const th = make("th", "", name);
        th.scope = "row";
        row.append(th, make("td", "", value));
      }
      headers.append(table);
      section.append(headers);
    }
    if (message.b) {
      const pre = make("pre", "json");
      paint(pre, message.b);
      scrolls(pre);
      section.append(pre);
    }
    const note = message.n || (message.b || title === "Request" ? "" : "no body");
    if (note) section.append(make("p", "cut", note));
    return section;
  };

  // show adds the evidence of an exchange to an element, once.
  const show = (details) => {
    if (details.dataset.shown) return;
    details.dataset.shown = "yes";
    const id = Number(details.dataset.x), x = evidence.get(id - 1);
    if (!x) {
      details.append(make("p", "cut", `exchange ${id} is not in this page: see result.json`));
      return;
    }
    const box = make("div", "exchange"), line = make("p", "line");
    line.append(make("code", "", x.u), " ", make("span", "ms", `at ${x.t} ms`));
    box.append(line);
    if (x.e) box.append(make("p", "reason", "no response: " + x.e));
    if (x.w) box.append(make("p", "reason", x.w));
    const row = lines.get(id - 1);
    if (row.p) {
      const violations = make("ul", "violations");
      for (const p of row.p) violations.append(make("li", "", p));
      box.append(violations);
    }
    const sides = make("div", x.q.b ? "sides" : "sides lone");
    sides.append(side("Request", x.q), side("Answer", x.r));
    box.append(sides);
    if (x.c) {
      const curl = make("div", "curl"), pre = make("pre", "", x.c), button = make("button", "copy", "copy");
      button.type = "button";
      scrolls(pre);
      curl.append(pre, button);
      box.append(curl);
    }
    details.append(box);
  };
  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (details.open && details.dataset.x) show(details);
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

  // ---- list of exchanges: only a window of the matching exchanges is in the document
  const WINDOW = 100;
  const xs = one("#x-list") && {
    list: one("#x-list"), search: one("#x-search"), status: one("#x-status"), method: one("#x-method"), operation: one("#x-operation"),
    violations: one("#x-violations"), rows: lines.all(), matching: [], from: 0, to: 0,
  };
  const xFields = ["search", "status", "method", "operation"];

  const textOf = (row) => row.t || (row.t = ["#" + row.i, row.m, row.a, row.s || "no response", row.b, row.o || "", ...(row.p || [])].join(" ").toLowerCase());
  const statusClass = (status) => (status ? Math.floor(status / 100) + "xx" : "none");
  const matcher = (f) => {
    const words = f.search.toLowerCase().split(/\s+/).filter(Boolean);
    return (row) => (!f.status || f.status === String(row.s) || f.status === statusClass(row.s))
      && (!f.method || f.method === row.m) && (!f.operation || f.operation === row.o)
      && (!f.violations || row.p) && words.every((w) => textOf(row).includes(w));
  };

  const xElement = (row) => {
    const details = make("details", "x"), summary = make("summary");
    details.id = "x" + row.i;
    details.dataset.x = row.i;
    summary.append(make("span", "num", "#" + row.i), make("span", "method", row.m), make("span", "path", row.a),
      make("span", "status " + row.c, row.s || "no response"), make("span", "ms", row.d.toFixed(1) + " ms"),
      make("span", "by", row.b + (row.p ? ` · ${row.p.length} contract violation${row.p.length > 1 ? "s" : ""}` : "")));
    details.append(summary);
    return details;
  };

  const xPaint = () => {
    xs.list.replaceChildren(...xs.matching.slice(xs.from, xs.to).map(xElement));
    xWindow();
  };
  const xWindow = () => {
    one("#x-before").hidden = xs.from === 0;
    one("#x-after").hidden = xs.to >= xs.matching.length;
    one("#x-after").textContent = `show more (${xs.matching.length - xs.to} remaining)`;
  };
  const xApply = () => {
    if (!xs) return;
    xs.matching = xs.rows.filter(matcher(xState()));
    xs.from = 0;
    xs.to = Math.min(WINDOW, xs.matching.length);
    const n = xs.matching.length;
    one("#x-shown").textContent = n === xs.rows.length ? `${n} exchanges` : `${n} of ${xs.rows.length}`;
    one("#x-nothing").hidden = n > 0;
    xPaint();
  };
  const xState = () => ({ ...Object.fromEntries(xFields.map((name) => [name, xs[name].value])), violations: xs.violations.getAttribute("aria-pressed") === "true" });
  const xSet = (f) => {
    if (!xs) return;
    for (const name of xFields) xs[name].value = f[name] || "";
    xs.violations.setAttribute("aria-pressed", Boolean(f.violations));
    xApply();
  };

  // xOpen opens an exchange and moves the window to it.
  const xOpen = (id) => {
    const row = xs && xs.rows[id - 1];
    if (!row) return null;
    if (!xs.matching.includes(row)) {
      xSet({});
      remember();
    }
    const at = xs.matching.indexOf(row);
    if (at < xs.from || at >= xs.to) {
      xs.from = at - (at % WINDOW);
      xs.to = Math.min(xs.from + WINDOW, xs.matching.length);
      xPaint();
    }
    return document.getElementById("x" + id);
  };

  const xOptions = () => {
    const option = (select, value, text) => {
      const o = make("option", "", text || value);
      o.value = value;
      select.append(o);
    };
    const distinct = (of) => [...new Set(xs.rows.map(of))].filter(Boolean).sort();
    for (const c of distinct((r) => statusClass(r.s))) option(xs.status, c, c === "none" ? "no response" : c);
    for (const s of distinct((r) => r.s)) option(xs.status, String(s));
    for (const m of distinct((r) => r.m)) option(xs.method, m);
    for (const o of distinct((r) => r.o)) option(xs.operation, o);
  };
  if (xs) {
    xOptions();
    for (const name of xFields) xs[name].addEventListener("input", () => { xApply(); remember(); });
    xs.violations.addEventListener("click", () => { xSet({ ...xState(), violations: !xState().violations }); remember(); });
    one("#x-clear").addEventListener("click", () => { xSet({}); remember(); });
    one("#x-after").addEventListener("click", () => {
      const next = xs.matching.slice(xs.to, xs.to + WINDOW).map(xElement);
      xs.list.append(...next);
      xs.to += next.length;
      xWindow();
      one("summary", next[0]).focus();
    });
    one("#x-before").addEventListener("click", () => {
      const next = xs.matching.slice(xs.from - WINDOW, xs.from).map(xElement);
      xs.list.prepend(...next);
      xs.from -= next.length;
      xWindow();
    });
  }

  // ---- filters: they are in the address, so that a view can be shared
  const requirements = all(".req"), parts = all(".part");
  const search = one("#search"), part = one("#part"), shown = one("#shown"), nothing = one("#nothing");
  const chosen = { verdicts: new Set(), levels: new Set() };
  const texts = new Map();
  const searched = (r) => texts.get(r) || texts.set(r, r.textContent.toLowerCase()).get(r);
  const visible = () => requirements.filter((r) => !r.hidden);

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const r of requirements) {
      const d = r.dataset;
      r.hidden = !((chosen.verdicts.size === 0 || chosen.verdicts.has(d.verdict))
        && (chosen.levels.size === 0 || chosen.levels.has(d.level))
        && (!part.value || part.value === d.part)
        && words.every((w) => searched(r).includes(w)));
    }
    for (const p of parts) {
      for (const f of all(".feature", p)) f.hidden = !all(".req", f).some((r) => !r.hidden);
      p.hidden = !all(".feature", p).some((f) => !f.hidden);
    }
    const n = visible().length, also = one("#also");
    const exchanges = xs && search.value ? xs.rows.filter(matcher({ search: search.value })).length : 0;
    also.hidden = exchanges === 0;
    also.textContent = `${exchanges} exchange${exchanges === 1 ? "" : "s"}`;
    also.title = "Show the exchanges with this text";
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
    if (xs) for (const [name, value] of Object.entries(xState())) if (value) state.set("x-" + name, value === true ? "yes" : value);
    const text = state.toString();
    try { history.replaceState(null, "", text ? "#?" + text : location.pathname + location.search); } catch { /* some viewers forbid it */ }
  };
  const recall = (state) => {
    search.value = state.get("q") || "";
    part.value = state.get("part") || "";
    for (const name of ["verdicts", "levels"]) chosen[name] = new Set((state.get(name) || "").split(",").filter(Boolean));
    apply();
    xSet(Object.fromEntries([...xFields, "violations"].map((name) => [name, state.get("x-" + name)])));
  };
  const change = () => { apply(); remember(); };
  const clear = () => {
    search.value = part.value = "";
    chosen.verdicts.clear();
    chosen.levels.clear();
    apply();
    xSet({});
    remember();
  };
  // xJump shows the exchanges that contain a text.
  const xJump = (text) => {
    xSet({ search: text });
    remember();
    one("#exchanges").scrollIntoView();
    xs.search.focus({ preventScroll: true });
  };
  one("#also").addEventListener("click", () => xJump(search.value));
  document.addEventListener("click", (event) => {
    if (xs && event.target.matches(".by-scenario")) xJump(event.target.dataset.scenario);
  });

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

  // ---- addresses: #CP-LIST-3 opens a requirement, #x12 an exchange
  const follow = () => {
    const hash = decodeURIComponent(location.hash.slice(1));
    if (hash.startsWith("?")) {
      recall(new URLSearchParams(hash.slice(1)));
      return;
    }
    const target = /^x\d+$/.test(hash) ? xOpen(Number(hash.slice(1))) : hash && document.getElementById(hash);
    if (!target || target.tagName !== "DETAILS") return;
    if (target.hidden) clear();
    target.open = true;
    target.scrollIntoView({ block: "start" });
    one("summary", target).focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);

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
    if (one("#verdicts").hidden) return;
    const was = chosen.verdicts.size === 1 && chosen.verdicts.has("failed");
    chosen.verdicts = new Set(was ? [] : ["failed"]);
    change();
  };
  const copyOpen = () => {
    const here = (document.activeElement && document.activeElement.closest(".req[open]")) || one(".req[open]:not([hidden])");
    const button = here && one(".copy", here);
    if (button) copy(button);
  };
  const keys = { "/": () => search.focus(), x: () => xs && xs.search.focus(), j: () => step(1), k: () => step(-1), f: onlyFailed, e: expand, t: nextTheme, c: copyOpen, "?": () => one("#keys").showModal() };
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

  // ---- print: problems and the exchanges that show violations are open while they are printed
  let printed = [];
  addEventListener("beforeprint", () => {
    printed = all(".problems .req, .problems .act .link, .problems .observation .link, .printed, .scope details").filter((d) => !d.open);
    for (const d of printed) {
      d.open = true;
      if (d.dataset.x) show(d);
    }
  });
  addEventListener("afterprint", () => { for (const d of printed) d.open = false; });

  apply();
  xApply();
  follow();
})();
