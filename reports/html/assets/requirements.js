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
  // xJump shows the exchanges that hold a text.
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

