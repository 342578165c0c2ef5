  // ---- the list of exchanges: a window of those that match is in the page, however many there are
  const WINDOW = 100;
  const xs = one("#x-list") && {
    list: one("#x-list"), search: one("#x-search"), status: one("#x-status"), method: one("#x-method"), operation: one("#x-operation"),
    violations: one("#x-violations"), rows: lines.all(), matching: [], from: 0, to: 0,
  };
  const xFields = ["search", "status", "method", "operation"];

  const textOf = (row) => row.t || (row.t = ["#" + row.i, row.m, row.a, row.s || "no answer", row.b, row.o || "", ...(row.p || [])].join(" ").toLowerCase());
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
      make("span", "status " + row.c, row.s || "no answer"), make("span", "ms", row.d.toFixed(1) + " ms"),
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
    one("#x-after").textContent = `show more (${xs.matching.length - xs.to} left)`;
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

  // xOpen opens an exchange, and moves the window to it.
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
    for (const c of distinct((r) => statusClass(r.s))) option(xs.status, c, c === "none" ? "no answer" : c);
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

