// The filters, keys, addresses and themes of the page. They use the exchanges.
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
  const exchanges = search.value ? records.filter(matcher({ search: search.value })).length : 0;
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
follow();

// ready is resolved when the list of exchanges can be used.
const ready = unpacked.then(() => {
  if (!xs) return;
  xOptions();
  xApply();
  if (/^#(\?|x\d)/.test(location.hash)) follow();
});
