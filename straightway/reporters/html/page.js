"use strict";
// The page reads without this script. It adds sorting, filters, light and dark,
// numbers under the pointer, and the communication matrix: one function each.

(() => {
  const root = document.documentElement;
  const all = (selector, from = document) =>
    [...from.querySelectorAll(selector)];
  const one = (selector, from = document) => from.querySelector(selector);
  const redraw = [];            // functions that depend on the colours

  // Numbers in the tables' form --------------------------------------------

  function three(value) {
    return value >= 100 ? value.toFixed(0)
      : value >= 10 ? value.toFixed(1) : value.toFixed(2);
  }

  function size(bytes) {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let i = 0;
    while (bytes >= 1024 && i < units.length - 1) {
      bytes /= 1024;
      i++;
    }
    const text = Number.isInteger(bytes) ? String(bytes) : three(bytes);
    return `${text} ${bytes === 1 && !i ? "byte" : units[i]}`;
  }

  const count = (n) => n.toLocaleString("en-US");

  // Light and dark --------------------------------------------------------

  function theme() {
    const button = one("#theme");
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const now = () => root.dataset.theme || (dark.matches ? "dark" : "light");
    const other = () => now() === "dark" ? "light" : "dark";
    const show = () => {
      button.textContent = other();
      button.setAttribute("aria-label", `Show in ${other()} colours`);
      redraw.forEach((draw) => draw());
    };
    try {
      const kept = localStorage.getItem("straightway-theme");
      if (kept === "light" || kept === "dark") root.dataset.theme = kept;
    } catch { /* a file may have no storage */ }
    button.addEventListener("click", () => {
      root.dataset.theme = other();
      try {
        localStorage.setItem("straightway-theme", root.dataset.theme);
      } catch { /* then it lasts for this visit only */ }
      show();
    });
    dark.addEventListener("change", show);
    button.hidden = false;
    show();
  }

  // Tables ----------------------------------------------------------------

  // Sort a table by its heads, filter it by its field, show its first rows.
  function live(table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const mine = `[data-for="${table.id}"]`;
    const field = one(`input${mine}`), button = one(`button${mine}`);
    let shown = Number(table.dataset.shown) || Infinity;
    const texts = new Map(field ? rows.map((row) => [row,
      [row.textContent, ...all("[title]", row).map((e) => e.title)]
        .join(" ").toLowerCase()]) : []);

    function show() {
      const words = field ? field.value.toLowerCase().split(/\s+/)
        .filter(Boolean) : [];
      let found = 0;
      for (const row of body.rows) {
        const fits = words.every((word) => texts.get(row).includes(word));
        found += fits;
        row.hidden = !fits || found > shown;
      }
      if (field) {
        one(".found", field.closest(".filter")).textContent =
          words.length ? `${found} of ${rows.length}` : "";
      }
      if (button) {
        button.hidden = found <= shown;
        button.textContent = `Show all ${found}`;
      }
    }

    all("th", table).forEach((head, column, heads) => {
      const number = head.classList.contains("number");
      const key = (row) => {
        const value = row.cells[column].dataset.v;
        return number ? Number(value) : value;
      };
      const sort = one("button", head);
      if (sort) sort.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const up = before ? before === "descending" : !number;
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const keyed = rows.map((row) => [key(row), row]);
        keyed.sort(([a], [b]) => (up ? 1 : -1) * (number ? a - b
          : a.localeCompare(b, "en", { numeric: true })));
        body.append(...keyed.map(([, row]) => row));
        show();
      });
    });
    if (field) field.addEventListener("input", show);
    if (button) button.addEventListener("click", () => {
      shown = Infinity;
      show();
    });
    show();
  }

  // Numbers under the pointer ---------------------------------------------

  function tips() {
    const tip = one("#tip");
    document.addEventListener("pointermove", (event) => {
      const at = event.target.closest ? event.target.closest("[data-tip]")
        : null;
      tip.hidden = !at;
      if (!at) return;
      tip.textContent = at.dataset.tip;
      const box = tip.getBoundingClientRect();
      const x = Math.min(event.clientX + 12, innerWidth - box.width - 6);
      const y = event.clientY - box.height - 10;
      tip.style.left = `${Math.max(6, x)}px`;
      tip.style.top = `${y < 6 ? event.clientY + 18 : y}px`;
    });
    document.addEventListener("pointerleave", () => { tip.hidden = true; });
    addEventListener("scroll", () => { tip.hidden = true; },
      { passive: true });
  }

  // The matrix ------------------------------------------------------------

  const parse = (colour) =>
    [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));

  // A function from 0..1 to a colour, through those of the style sheet.
  function ramp() {
    const stops = getComputedStyle(root).getPropertyValue("--ramp").trim()
      .split(/\s+/).map(parse);
    return (t) => {
      const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
      const i = Math.min(Math.floor(at), stops.length - 2);
      const mix = stops[i].map((a, k) =>
        Math.round(a + (at - i) * (stops[i + 1][k] - a)));
      return `rgb(${mix.join(",")})`;
    };
  }

  // A canvas in the device's pixels, for sharp edges.
  function prepared(canvas, width, height) {
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    return context;
  }

  function matrix(data) {
    const canvas = one("#map");
    const readout = one("#pair");
    const n = data.cells;
    const left = 44, top = 34;          // labels
    let show = 1;                       // bytes; 0: messages
    let kind = "";
    let cells = new Map();
    let side = 10;                      // of a cell
    let chosen = null;

    function collect() {
      cells = new Map();
      for (const [name, numbers] of Object.entries(data.kinds)) {
        if (kind && name !== kind) continue;
        for (let i = 0; i < numbers.length; i += 4) {
          const key = numbers[i] * n + numbers[i + 1];
          const cell = cells.get(key) || [0, 0];
          cell[0] += numbers[i + 2];
          cell[1] += numbers[i + 3];
          cells.set(key, cell);
        }
      }
    }

    // The ranks of a cell.
    function ranks(cell) {
      const first = cell * data.join;
      const last = Math.min(data.ranks, first + data.join) - 1;
      return first === last ? `rank ${first}` : `ranks ${first} to ${last}`;
    }

    function scale() {
      const values = [...cells.values()].map((c) => c[show])
        .filter((v) => v > 0);
      const low = values.reduce((a, b) => Math.min(a, b), Infinity);
      const high = values.reduce((a, b) => Math.max(a, b), 0);
      const text = show ? size : count;
      one(".ramp .low").textContent = values.length ? text(low) : "";
      one(".ramp .high").textContent = high > low ? text(high) : "";
      one("#ramp").hidden = !(high > low);
      const span = Math.log(high / low) || 1;
      return (v) => high > low ? .06 + .94 * Math.log(v / low) / span : .75;
    }

    function axes(context, style) {
      context.fillStyle = style.getPropertyValue("--grey");
      context.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
      const most = Math.max(1, Math.floor(n * side / 34));
      let step = 1;
      while (n / step > most) step *= 2;
      for (let i = 0; i < n; i += step) {
        const text = String(i * data.join);
        const middle = (i + .5) * side;
        context.textAlign = "center";
        context.fillText(text, left + middle, top - 6);
        context.textAlign = "right";
        context.fillText(text, left - 6, top + middle + 4);
      }
      context.textAlign = "left";
      context.fillText("to rank \u2192", left, 11);
      context.save();
      context.translate(10, top);
      context.rotate(-Math.PI / 2);
      context.textAlign = "right";
      context.fillText("\u2190 from rank", 0, 0);
      context.restore();
    }

    function draw() {
      const style = getComputedStyle(root);
      const room = canvas.parentElement.clientWidth - left - 2;
      side = Math.min(44, room / n);
      if (side > 3) side = Math.floor(side);
      const context = prepared(canvas, left + n * side + 2,
        top + n * side + 2);
      canvas.style.width = `${left + n * side + 2}px`;
      const shade = scale(), colour = ramp();
      context.fillStyle = style.getPropertyValue("--faint");
      context.fillRect(left, top, n * side, n * side);
      const gap = side >= 8 ? 1 : 0;
      for (const [key, values] of cells) {
        if (!values[show]) continue;
        context.fillStyle = colour(shade(values[show]));
        context.fillRect(left + key % n * side,
          top + Math.floor(key / n) * side, side - gap, side - gap);
      }
      context.strokeStyle = style.getPropertyValue("--grey");
      context.lineWidth = 1;
      for (const edge of data.edges) {
        const at = Math.round(edge * side) - .5;
        context.beginPath();
        context.moveTo(left + at, top);
        context.lineTo(left + at, top + n * side);
        context.moveTo(left, top + at);
        context.lineTo(left + n * side, top + at);
        context.stroke();
      }
      if (chosen) {
        context.strokeStyle = style.getPropertyValue("--ink");
        context.lineWidth = 1.5;
        context.strokeRect(left + chosen[1] * side - .5,
          top + chosen[0] * side - .5, side, side);
      }
      axes(context, style);
      drawRamp(colour);
    }

    function drawRamp(colour) {
      const strip = prepared(one("#ramp"), 120, 11);
      for (let x = 0; x < 120; x++) {
        strip.fillStyle = colour(.06 + .94 * x / 119);
        strip.fillRect(x, 0, 1.5, 11);
      }
    }

    function choose(row, column) {
      chosen = row === null ? null : [row, column];
      if (!chosen) {
        readout.textContent = readout.dataset.hint;
      } else {
        const [messages, bytes] = cells.get(row * n + column) || [0, 0];
        readout.textContent = `${ranks(row)} to ${ranks(column)}: ` +
          (messages || bytes ? `${count(messages)} ` +
            `message${messages === 1 ? "" : "s"}, ${size(bytes)}`
            : "nothing");
      }
      draw();
    }

    canvas.addEventListener("pointermove", (event) => {
      const row = Math.floor((event.offsetY - top) / side);
      const column = Math.floor((event.offsetX - left) / side);
      const inside = row >= 0 && column >= 0 && row < n && column < n;
      if (inside && chosen && chosen[0] === row && chosen[1] === column)
        return;
      choose(inside ? row : null, column);
    });
    canvas.addEventListener("pointerleave", () => choose(null));
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0],
        ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (event.key === "Escape") choose(null);
      if (!step) return;
      event.preventDefault();
      const from = chosen || [0, 0];
      const next = chosen ? step.map((d, i) =>
        Math.min(Math.max(from[i] + d, 0), n - 1)) : from;
      choose(next[0], next[1]);
    });
    all(".switch button").forEach((button, _, buttons) =>
      button.addEventListener("click", () => {
        show = Number(button.dataset.show);
        buttons.forEach((b) =>
          b.setAttribute("aria-pressed", String(b === button)));
        draw();
      }));
    const kinds = one("#kind");
    if (kinds) kinds.addEventListener("change", () => {
      kind = kinds.value;
      collect();
      choose(null);
    });
    addEventListener("resize", draw);
    redraw.push(draw);
    readout.textContent = readout.dataset.hint;
    collect();
  }

  // Paper is light, and opens all folded parts ----------------------------

  function printing() {
    let folded = [], before;
    const set = (open, theme) => {
      folded.forEach((d) => { d.open = open; });
      if (theme) root.dataset.theme = theme;
      else delete root.dataset.theme;
      redraw.forEach((draw) => draw());
    };
    addEventListener("beforeprint", () => {
      folded = all("details:not([open])");
      before = root.dataset.theme;
      set(true, "light");
    });
    addEventListener("afterprint", () => set(false, before));
  }

  const data = one("#matrix-data");
  if (data) matrix(JSON.parse(data.textContent));
  all("table[id]").forEach(live);
  tips();
  printing();
  theme();                      // draws
})();
