  // ---- addresses: #CP-LIST-3 and #x12 open what they name
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

  // ---- print: problems are printed open, with the exchanges that a violation was seen in, and closed again afterwards
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
