// Elements, and numbers for people. Text only ever becomes text: nothing here parses markup, so no
// name or source of a program can be more than what it shows.

/** h("td.num", {title: "…"}, "text", child, …): null and false children are left out. */
function h(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const e = document.createElement(tag || "div");
  if (classes.length) e.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [p, v] of Object.entries(value)) e.style.setProperty(p, v);
    else e.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) e.append(child);
  return e;
}

/** The same for elements of an SVG picture; attributes and classes alike. */
function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null));
  return e;
}

/** Text whose control characters and direction marks are shown as escapes, as a terminal shows them. */
const visible = (text) => text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
  (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

const format = new Intl.NumberFormat("en-US");
const count = (n) => format.format(n);
const plural = (n, what) => `${count(n)} ${what}${n === 1 ? "" : /(ch|ss)$/.test(what) ? "es" : "s"}`;

function duration(ns) {
  if (ns === 0) return "0";
  const steps = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
  for (const [unit, name] of steps)
    if (ns >= unit) return `${(ns / unit).toPrecision(3).replace(/e.*/, "")} ${name}`.replace(/^(\d+)\.0+ /, "$1 ");
  return `${ns} ns`;
}

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let u = 0, value = n;
  while (value >= 1024 && u < units.length - 1) { value /= 1024; ++u; }
  return u === 0 ? `${count(n)} B` : `${value.toFixed(value < 10 ? 2 : 1)} ${units[u]}`;
}

/** Bytes over nanoseconds: "12.3 GB/s", of 10^9 bytes. */
function rate(n, ns) {
  const value = n / ns, [scaled, unit] = value >= 1000 ? [value / 1000, "TB/s"] : value >= 0.1 ? [value, "GB/s"] : [value * 1000, "MB/s"];
  return `${scaled.toFixed(scaled < 10 ? 2 : scaled < 100 ? 1 : 0)} ${unit}`;
}

/** Text with its `names` as code. */
const ticked = (text) => text.split("`").map((piece, i, all) => (i % 2 && i + 1 < all.length ? h("code", {}, piece) : i % 2 ? "`" + piece : piece));

const words = (name) => name.replaceAll("_", " ");

/** A table: columns are {title, number, cell(row)}. */
function table(columns, rows, caption) {
  return h(".scroll", {tabindex: 0, role: "region", "aria-label": caption},
    h("table", {},
      h("caption.hidden", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((c) => h(c.number ? "th.num" : "th", {scope: "col"}, c.title)))),
      h("tbody", {}, rows.map((row) =>
        h("tr", {}, columns.map((c, i) => {
          const cell = c.cell(row);
          return h((i === 0 ? "th" : "td") + (c.number ? ".num" : ""), i === 0 ? {scope: "row"} : {}, cell);
        }))))));
}

/** Arrow keys go from one to the next of `items`, children of `box`; `say` hears which. */
function stepThrough(box, items, say) {
  let at = -1;
  box.addEventListener("keydown", (e) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
    if (!step || !items.length) return;
    e.preventDefault();
    if (at >= 0) items[at].classList.remove("here");
    at = Math.min(items.length - 1, Math.max(0, at + step));
    items[at].classList.add("here");
    say(at);
  });
}

/** Buttons of which one is on. choices: [[value, label], …] */
function choice(label, choices, value, change) {
  const buttons = choices.map(([v, text]) =>
    h("button", {type: "button", "aria-pressed": String(v === value), onclick: () => {
      for (const b of buttons) b.setAttribute("aria-pressed", String(b === buttons[choices.findIndex((c) => c[0] === v)]));
      change(v);
    }}, text));
  return h(".choice", {role: "group", "aria-label": label}, buttons);
}
