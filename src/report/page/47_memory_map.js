// The memory of a graph's intermediates: launches from left to right, bytes from bottom to top, once as
// it was and once as it would be without the plan. Both have the same scale, until somebody asks for
// another.

const shownPieces = 3000;  // rectangles in a picture; the largest
const shownRows = 300;

const launchesText = (live) => live.map(([first, last]) => (first === last ? `${first + 1}` : `${first + 1}–${last + 1}`)).join(", ");
const isOwn = (b) => b.slot === null;
const mapColour = (i) => `var(--stage-${[0, 2, 4, 1, 3, 5][i % 6]})`;

/** Every intermediate with where it lies with the plan (null: nowhere) and without; from the bottom up. */
function intermediates() {
  const m = graph.memory, starts = [0];
  for (const size of m.slots) starts.push(starts[starts.length - 1] + size);
  const all = [...m.placement, ...m.gone.map((b) => ({...b, gone: true}))].sort((a, b) => a.buffer - b.buffer);
  let own = starts[starts.length - 1], stack = 0;
  all.forEach((b, i) => {
    b.colour = mapColour(i);
    b.without = stack;
    stack += b.allocated;
    if (b.gone) b.at = null;
    else if (isOwn(b)) { b.at = own; own += b.allocated; }
    else b.at = starts[b.slot] + b.offset;
    const where = b.gone ? "never in device memory" : isOwn(b) ? "memory of its own" : `slot ${b.slot} at ${count(b.offset)}`;
    b.text = `${b.name}: ${bytes(b.bytes)}, ${where}, ${b.live.length ? `needed in launch${launchesText(b.live).match(/^\d+$/) ? "" : "es"} ${launchesText(b.live)}` : "never used"}`;
  });
  return {all, slots: starts[starts.length - 1], planned: own, unplanned: stack};
}

/** One picture. rooms: what is allocated; pieces: {b, first, last, from}; lines: {at, text, kind}. */
function mapPicture(title, {rooms, pieces, lines, top, note}, mark) {
  const n = graph.launches.length, x = (launch) => `${(100 * launch) / n}%`, y = (b) => `${(100 * b) / top}%`;
  const column = h(".column", {"aria-hidden": "true", style: {width: x(1)}});
  const drawn = pieces.length > shownPieces
    ? [...pieces].sort((p, q) => q.b.allocated * (q.last - q.first + 1) - p.b.allocated * (p.last - p.first + 1)).slice(0, shownPieces) : pieces;
  const boxes = drawn.map((p) => h(`.piece${p.b.gone ? ".gone" : ""}`, {
    role: "option", "aria-label": p.b.text, title: p.b.text, "data-buffer": p.b.buffer,
    onpointerenter: () => mark(p.b), onpointerleave: () => mark(null),
    style: {left: x(p.first), width: `max(2px, ${x(p.last - p.first + 1)})`, bottom: y(p.from), height: `max(2px, ${y(p.b.allocated)})`, "--tint": p.b.colour}},
    p.b.allocated / top > 0.06 && (p.last - p.first + 1) / n > 0.12 ? h("em", {}, p.b.name) : null));
  const field = h(".field", {role: "listbox", tabindex: 0, "aria-label": title},
    rooms.map((r) => h(".room", {"aria-hidden": "true", style: {bottom: y(r.from), height: y(r.bytes)}})),
    column, boxes,
    lines.filter((l) => l && l.at <= top).map((l) => h(`.level.${l.kind}`, {"aria-hidden": "true", style: {bottom: y(l.at)}}, h("span", {}, l.text))));
  stepThrough(field, boxes, (i) => mark(drawn[i].b));
  const step = Math.ceil(n / 12), ticks = [];
  for (let i = 0; i < n; i += step) ticks.push(h("span", {style: {left: x(i + 0.5)}}, count(i + 1)));
  return h("figure.map", {},
    h("figcaption", {}, h("h3", {}, title), h("p.note", {}, note, pieces.length > drawn.length ? ` The ${count(drawn.length)} largest pieces of ${count(pieces.length)} are drawn.` : "")),
    h(".plot", {},
      h(".bytes", {"aria-hidden": "true"}, [1, 0.5, 0].map((f) => h("span", {style: {bottom: `${100 * f}%`}}, bytes(Math.round(top * f))))),
      field,
      h(".launchticks", {"aria-hidden": "true"}, ticks),
      graph.loops.length ? h(".loopbars", {"aria-hidden": "true", style: {height: `${18 * (1 + Math.max(...graph.loops.slice(0, 50).map(loopDepth)))}px`}}, graph.loops.slice(0, 50).map((l) =>
        h("span", {title: `${l.kind}: launches ${launchesText([l.launches])}`, style: {left: x(l.launches[0]), width: x(l.launches[1] - l.launches[0] + 1), top: `${18 * loopDepth(l)}px`}}, l.kind))) : null));
}

const memoryMap = {
  id: "memory-map", title: "Memory map", when: () => graph !== null && graph.memory.placement.length + graph.memory.gone.length > 0,
  draw() {
    const {all, slots, planned, unplanned} = intermediates(), m = graph.memory;
    const readout = h("p.note.readout", {role: "status"}, "Point at a piece, or move with the arrow keys.");
    const holder = h(".maps", {});
    const mark = (b) => {
      if (b) readout.textContent = b.text;
      for (const e of holder.querySelectorAll(".piece")) e.classList.toggle("same", b !== null && Number(e.dataset.buffer) === b.buffer);
    };
    const pieces = (list, from) => list.flatMap((b) => b.live.map(([first, last]) => ({b, first, last, from: from(b)})));
    const here = all.filter((b) => !b.gone), own = here.filter(isOwn);
    const markLaunch = (launch) => {
      for (const column of holder.querySelectorAll(".column")) {
        column.hidden = launch < 0;
        column.style.left = `${(100 * launch) / graph.launches.length}%`;
      }
    };
    chosen.hear.push(markLaunch);
    const most = Math.max(planned, unplanned, 1);
    const draw = (top) => { holder.replaceChildren(...pictures(top)); markLaunch(chosen.launch); };
    const pictures = (top) => [
      mapPicture("With the plan", {
        rooms: [{from: 0, bytes: slots}, ...own.map((b) => ({from: b.at, bytes: b.allocated}))].filter((r) => r.bytes > 0),
        pieces: pieces(here, (b) => b.at), top,
        lines: [{at: planned, kind: "peak", text: bytes(planned)},
                unplanned > planned ? {at: unplanned, kind: "ghost", text: `${bytes(unplanned)} without`} : null],
        note: [m.slots.length && m.after ? (m.live_sum === m.after ? `Buffers share ${bytes(m.after)}; no plan needs less.` : `Buffers share ${bytes(m.after)}; at least ${bytes(m.live_sum)} are needed at once.`) : "No memory is shared.",
               own.length ? ` ${plural(own.length, "buffer")} ${own.length === 1 ? "has" : "have"} memory of ${own.length === 1 ? "its" : "their"} own${m.after ? ", above" : ""}.` : ""].join(""),
      }, mark),
      mapPicture("Without the plan", {
        rooms: all.length > 200 ? [{from: 0, bytes: unplanned}]
          : all.filter((b) => b.allocated > 0).map((b) => ({from: b.without, bytes: b.allocated})),
        pieces: pieces(all, (b) => b.without), top: most,
        lines: [{at: unplanned, kind: "peak", text: bytes(unplanned)}],
        note: ["Each intermediate has its own memory all the time.", m.gone.length ? ` Striped: what the plan does without.` : ""].join(""),
      }, mark)];
    draw(most);
    const rows = all.slice(0, shownRows);
    return [
      h("p.lead", {}, "Intermediates need ", h("strong", {}, bytes(planned)), ", without the plan ", h("strong", {}, bytes(unplanned)), ". With parameters",
        m.scratch ? " and scratch" : "", " the peak is ", h("strong", {}, bytes(m.peak)), ", without the plan ", h("strong", {}, bytes(m.peak_unplanned)), "."),
      planned > 0 && planned < unplanned / 4 ? choice("Scale", [["same", "Same scale"], ["own", "Scale of each"]], "same", (v) => draw(v === "same" ? most : planned)) : null,
      holder, readout,
      table([
        {title: "Intermediate", cell: (b) => [h("i.key", {style: {background: b.colour}}), h("code", {}, b.name)]},
        {title: "Bytes", number: true, cell: (b) => bytes(b.bytes)},
        {title: "Where", cell: (b) => (b.gone ? "never in memory" : isOwn(b) ? "its own" : m.slots.length > 1 ? `slot ${b.slot}, at ${count(b.offset)}` : `shared, at ${count(b.offset)}`)},
        {title: "Needed in launches", cell: (b) => launchesText(b.live) || "none"},
        {title: "Cleared before launch", cell: (b) => m.clears.filter((c) => c.buffer === b.buffer).map((c) => c.launch + 1).join(", ")},
      ].filter((c) => m.clears.length || c.title !== "Cleared before launch"), rows, "Intermediates"),
      all.length > rows.length ? h("p.note", {}, `The first ${count(rows.length)} of ${count(all.length)}; the data of the page has all.`) : null,
      m.after ? h("details.astable.bylaunch", {}, h("summary", {}, "Bytes by launch"), table([
        {title: "Launch", cell: (l) => `${graph.launches.indexOf(l) + 1} ${l.kernel}`},
        {title: "Needed", number: true, cell: (l) => bytes(l.live_bytes + planned - slots)},
        {title: "With the plan, up to", number: true, cell: (l) => bytes(l.slot_bytes + planned - slots)},
        {title: "Without", number: true, cell: () => bytes(unplanned)},
      ], graph.launches.slice(0, shownRows), "Bytes of intermediates by launch")) : null,
    ];
  },
};
