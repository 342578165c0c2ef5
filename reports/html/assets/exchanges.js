// The exchanges of the page: decompressed, shown where they are opened, and in a list with filters.
// records are all exchanges in the order of their ids. They are empty until unpacked, which is resolved as soon as they are
// read, also if the browser cannot do it.
let records = [];
const unpack = async () => {
  const packed = one("#records");
  if (!packed) return;
  const bytes = Uint8Array.from(atob(packed.textContent), (c) => c.charCodeAt(0));
  records = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
};
const unpacked = unpack().catch(() => {});

const side = (title, message, cut) => {
  const section = make("div");
  section.append(make("p", "cap", title));
  const fields = Object.entries(message.headers || {}).flatMap(([name, values]) => values.map((value) => [name, value]));
  if (fields.length) {
    const headers = make("details", "headers");
    headers.append(make("summary", "", `headers (${fields.length})`));
    const table = make("table");
    for (const [name, value] of fields) {
      const row = table.insertRow();
      const th = make("th", "", name);
      th.scope = "row";
      row.append(th, make("td", "", value));
    }
    headers.append(table);
    section.append(headers);
  }
  if (message.body) {
    const pre = make("pre", "json");
    paint(pre, message.body);
    scrolls(pre);
    section.append(pre);
  }
  const note = cut || (message.body || title === "Request" ? "" : "no body");
  if (note) section.append(make("p", "cut", note));
  return section;
};

// show adds the evidence of an exchange to an element, once.
const show = async (details) => {
  if (details.dataset.shown) return;
  details.dataset.shown = "yes";
  if (!records.length) await unpacked;
  const id = Number(details.dataset.x), x = records[id - 1];
  if (!x) {
    details.append(make("p", "cut", `This browser cannot read the requests in the page: see request ${id} in exchanges.jsonl.gz.`));
    return;
  }
  const box = make("div", "exchange"), line = make("p", "line");
  line.append(make("code", "", x.url), " ", make("span", "ms", `at ${x.at_ms} ms`));
  box.append(line);
  if (x.error) box.append(make("p", "reason", "no response: " + x.error));
  if (x.note) box.append(make("p", "reason", x.note));
  if (x.problems) {
    const violations = make("ul", "violations");
    for (const p of x.problems) violations.append(make("li", "", p));
    box.append(violations);
  }
  const sides = make("div", x.request.body ? "sides" : "sides lone");
  sides.append(side("Request", x.request, x.request_note), side("Response", x.response, x.response_note));
  box.append(sides);
  if (x.curl) {
    const curl = make("div", "curl"), pre = make("pre", "", x.curl), button = make("button", "copy", "copy");
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

// ---- list of exchanges: only a window of the matching exchanges is in the document
const WINDOW = 100;
const xs = one("#x-list") && {
  list: one("#x-list"), search: one("#x-search"), status: one("#x-status"), method: one("#x-method"), operation: one("#x-operation"),
  violations: one("#x-violations"), matching: [], from: 0, to: 0,
};
const xFields = ["search", "status", "method", "operation"];

const textOf = (row) => row.text || (row.text = ["#" + row.id, row.method, row.path, row.status || "no response", row.scenario, row.operation || "", ...(row.problems || [])].join(" ").toLowerCase());
const statusClass = (status) => (status ? Math.floor(status / 100) + "xx" : "none");
const matcher = (f) => {
  const words = f.search.toLowerCase().split(/\s+/).filter(Boolean);
  return (row) => (!f.status || f.status === String(row.status) || f.status === statusClass(row.status))
    && (!f.method || f.method === row.method) && (!f.operation || f.operation === row.operation)
    && (!f.violations || row.problems) && words.every((w) => textOf(row).includes(w));
};

const xElement = (row) => {
  const details = make("details", "x"), summary = make("summary");
  details.id = "x" + row.id;
  details.dataset.x = row.id;
  summary.append(make("span", "num", "#" + row.id), make("span", "method", row.method), make("span", "path", row.path),
    make("span", `status s${Math.floor(row.status / 100)}${row.problems ? " odd" : ""}`, row.status || "no response"), make("span", "ms", row.ms.toFixed(1) + " ms"),
    make("span", "by", row.scenario + (row.problems ? ` · ${row.problems.length} contract violation${row.problems.length > 1 ? "s" : ""}` : "")));
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
  xs.matching = records.filter(matcher(xState()));
  xs.from = 0;
  xs.to = Math.min(WINDOW, xs.matching.length);
  const n = xs.matching.length;
  one("#x-shown").textContent = n === records.length ? `${n} requests` : `${n} of ${records.length}`;
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
  const row = xs && records[id - 1];
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
  const distinct = (of) => [...new Set(records.map(of))].filter(Boolean).sort();
  for (const c of distinct((r) => statusClass(r.status))) option(xs.status, c, c === "none" ? "no response" : c);
  for (const s of distinct((r) => r.status)) option(xs.status, String(s));
  for (const m of distinct((r) => r.method)) option(xs.method, m);
  for (const o of distinct((r) => r.operation)) option(xs.operation, o);
};
if (xs) {
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
