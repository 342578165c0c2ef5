  // Comfort only: without this script the findings can be read all the same. All text is put into the page as text, never
  // as markup.
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

  // unpack gives the items of data elements that hold some each, parsed when the first of them is asked for.
  const unpack = (selector, size) => {
    const elements = all(selector), unpacked = [];
    const chunk = (at) => unpacked[at] || (unpacked[at] = JSON.parse(elements[at].textContent));
    return { get: (index) => elements[Math.floor(index / size)] && chunk(Math.floor(index / size))[index % size], all: () => elements.flatMap((_, at) => chunk(at)) };
  };
  const evidence = unpack("script.data", 100), lines = unpack("script.rows", 1000);

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

  // A box that scrolls must be reachable by the keyboard, and only such a box.
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

  // show fills an element that names an exchange, once.
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
    if (x.e) box.append(make("p", "reason", "no answer: " + x.e));
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

