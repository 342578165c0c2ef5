// The filters, addresses and keys of the page.
// ---- filters: they are in the address, so that a view can be shared
const requirements = all(".req"), parts = all(".part");
const search = one("#search"), part = one("#part"), shown = one("#shown"), nothing = one("#nothing");
const chosen = { results: new Set(), levels: new Set() };
const texts = new Map();
// textIn returns the text of a requirement to search in. If it failed, its row is a link to the problem.
const textIn = (r) => r.textContent + (r.hash ? one(r.hash)?.textContent : "");
const searched = (r) => texts.get(r) || texts.set(r, textIn(r).toLowerCase()).get(r);
const visible = () => requirements.filter((r) => !r.hidden);

const apply = () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const r of requirements) {
    const d = r.dataset;
    r.hidden = !((chosen.results.size === 0 || chosen.results.has(d.result))
      && (chosen.levels.size === 0 || chosen.levels.has(d.level))
      && (!part.value || part.value === d.part)
      && words.every((w) => searched(r).includes(w)));
  }
  const n = visible().length, also = one("#also");
  for (const p of parts) {
    for (const f of all(".feature", p)) {
      f.hidden = !all(".req", f).some((r) => !r.hidden);
      if (n < requirements.length) f.open = !f.hidden;
    }
    p.hidden = !all(".feature", p).some((f) => !f.hidden);
  }
  const exchanges = search.value ? records.filter(matcher({ search: search.value })).length : 0;
  also.hidden = exchanges === 0;
  also.textContent = `${exchanges} request${exchanges === 1 ? "" : "s"}`;
  also.title = "Show the requests with this text";
  shown.textContent = n === requirements.length ? `${n} requirements` : `${n} of ${requirements.length}`;
  nothing.hidden = n > 0 || requirements.length === 0;
  for (const name of ["results", "levels"]) {
    for (const b of all("button", one("#" + name))) b.setAttribute("aria-pressed", chosen[name].has(b.dataset.value));
  }
};

const remember = () => {
  const state = new URLSearchParams();
  if (search.value) state.set("q", search.value);
  if (part.value) state.set("part", part.value);
  for (const name of ["results", "levels"]) if (chosen[name].size) state.set(name, [...chosen[name]].join(","));
  if (xs) for (const [name, value] of Object.entries(xState())) if (value) state.set("x-" + name, value === true ? "yes" : value);
  const text = state.toString();
  try { history.replaceState(null, "", text ? "#?" + text : location.pathname + location.search); } catch { /* some viewers forbid it */ }
};
const recall = (state) => {
  search.value = state.get("q") || "";
  part.value = state.get("part") || "";
  for (const name of ["results", "levels"]) chosen[name] = new Set((state.get(name) || "").split(",").filter(Boolean));
  apply();
  xSet(Object.fromEntries([...xFields, "violations"].map((name) => [name, state.get("x-" + name)])));
};
const change = () => { apply(); remember(); };
const clear = () => {
  search.value = part.value = "";
  chosen.results.clear();
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

for (const name of ["results", "levels"]) {
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
  const list = visible().filter((r) => r.tagName === "DETAILS"), open = list.some((r) => !r.open);
  for (const r of list) r.open = open;
  for (const f of all(".feature")) f.open = open;
  one("#expand").textContent = open ? "close all" : "open all";
};
one("#expand").addEventListener("click", expand);
one("#help").addEventListener("click", () => one("#keys").showModal());

// reveal opens the groups around an element.
const reveal = (element) => {
  for (let d = element.parentElement.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
};

// ---- addresses: #CP-LIST-3 opens a requirement, #x12 an exchange
const follow = () => {
  const hash = location.hash.slice(1); // still encoded; URLSearchParams decodes it, and ids need no encoding
  if (hash.startsWith("?")) {
    recall(new URLSearchParams(hash.slice(1)));
    return;
  }
  const target = /^x\d+$/.test(hash) ? xOpen(Number(hash.slice(1))) : hash && document.getElementById(hash);
  if (!target || target.tagName !== "DETAILS") return;
  if (target.hidden) clear();
  reveal(target);
  target.open = true;
  target.scrollIntoView({ block: "start" });
  one("summary", target).focus({ preventScroll: true });
};
addEventListener("hashchange", follow);

// ---- keys
const step = (by) => {
  const list = all(".problem, .req").filter((r) => !r.hidden);
  if (!list.length) return;
  const at = list.indexOf(document.activeElement && document.activeElement.closest(".problem, .req"));
  const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)];
  reveal(next);
  const target = one("summary", next) || next;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
};
const onlyFailed = () => {
  if (one("#results").hidden) return;
  const was = chosen.results.size === 1 && chosen.results.has("failed");
  chosen.results = new Set(was ? [] : ["failed"]);
  change();
};
const copyOpen = () => {
  const here = (document.activeElement && document.activeElement.closest(".problem[open]")) || one(".problem[open]");
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
  printed = all(".problem, .problem .also:has(.observation), .observation .link, .printed, .scope details").filter((d) => !d.open);
  for (const d of printed) {
    d.open = true;
    if (d.dataset.x) show(d);
  }
});
addEventListener("afterprint", () => { for (const d of printed) d.open = false; });

apply();
follow();

// ready is resolved when the list of requests can be used.
const ready = unpacked.then(() => {
  if (!xs) return;
  xOptions();
  xApply();
  if (/^#(\?|x\d)/.test(location.hash)) follow();
});
