// What happened when: stages on the host, copies and launches on the device. Spans that would be
// narrower than a pixel are drawn as one with their neighbours, so that any number of calls fits.

const timeline = {
  id: "timeline", title: "Time line", when: () => listings.spans.length > 0,
  draw() {
    const holder = h(".timeline", {});
    const all = [0, extent(listings.spans)[1]], device = extent(listings.spans.filter((s) => s[1] === "device"));
    const draw = (range) => holder.replaceChildren(...drawSpans(range).filter((e) => e));
    draw(all);
    // Compiling may take a thousand times as long as what it is for.
    const zooms = device[1] > device[0] && device[1] - device[0] < (all[1] - all[0]) / 2;
    return [zooms ? choice("Range", [["all", "Whole run"], ["device", "From the first launch"]], "all",
                           (v) => draw(v === "all" ? all : device)) : null, holder];
  },
};

/** Stages and copies have the colours that they have elsewhere; kernels take turns with the loud ones. */
function spanColour(name) {
  const stage = Object.keys(report.stages_ns).indexOf(name);
  if (stage >= 0) return `var(--stage-${stage % 8})`;
  const kernels = [...new Set(listings.spans.map((s) => s[0]))].filter((n) => !(n in report.stages_ns));
  return `var(--stage-${[6, 2, 4, 1, 3, 5, 0][kernels.indexOf(name) % 7]})`;
}

/** [begin, end] of spans. */
function extent(spans) {
  let begin = Infinity, end = 0;
  for (const [, , from, ns] of spans) { begin = Math.min(begin, from); end = Math.max(end, from + ns); }
  return spans.length ? [begin, Math.max(end, begin + 1)] : [0, 1];
}

function drawSpans([from, to]) {
  const end = to - from;
  const shown = listings.spans.filter(([, , begin, ns]) => begin + ns >= from && begin <= to);
  const tracks = new Map([["host", []], ["device", []]]);
  for (const span of shown) {
    if (!tracks.has(span[1])) tracks.set(span[1], []);
    tracks.get(span[1]).push(span);
  }
  const colours = new Map();
  for (const [name] of shown) if (!colours.has(name)) colours.set(name, spanColour(name));
  const readout = h("p.note.readout", {"aria-live": "polite"}, "Point at a span, or move with the arrow keys.");
  const lane = ([name, spans]) => {
    const drawn = spans.length ? joined(spans, end / 1400) : [];
    const bar = h(".lane", {role: "listbox", "aria-label": `Spans of the ${name}`, tabindex: drawn.length ? 0 : -1},
      drawn.map((s) => h("span", {
        role: "option", "aria-label": s.text, title: s.text,
        onpointerenter: () => { readout.textContent = s.text; },
        style: {left: `${(100 * (s.begin - from)) / end}%`, width: `max(1px, ${(100 * s.ns) / end}%)`, background: colours.get(s.name)}},
        (100 * s.ns) / end > 6 ? h("em", {}, s.name) : null)));
    let at = -1;
    bar.addEventListener("keydown", (e) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
      if (!step || !drawn.length) return;
      e.preventDefault();
      if (at >= 0) bar.children[at].classList.remove("here");
      at = Math.min(drawn.length - 1, Math.max(0, at + step));
      bar.children[at].classList.add("here");
      readout.textContent = drawn[at].text;
    });
    return h(".track", {}, h(".name", {}, name === "device" && report.device.name ? h("span", {title: report.device.name}, "device") : name), bar);
  };
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((f) => h("span", {style: {left: `${100 * f}%`}}, from ? (f ? `+${duration(Math.round(end * f))}` : duration(from)) : duration(Math.round(end * f))));
  return [h(".tracks", {}, [...tracks].map(lane), h(".track.axis", {}, h(".name"), h(".ticks", {"aria-hidden": "true"}, ticks))),
          readout, calls(tracks.get("device"))];
}

/** Neighbours that are closer than `least` become one. */
function joined(spans, least) {
  const drawn = [];
  for (const [name, , begin, ns] of [...spans].sort((a, b) => a[2] - b[2])) {
    const last = drawn[drawn.length - 1];
    if (last && last.name === name && begin - (last.begin + last.ns) < least && ns < least && last.each < least) {
      last.ns = begin + ns - last.begin;
      ++last.n;
      last.busy += ns;
    } else {
      drawn.push({name, begin, ns, n: 1, each: ns, busy: ns});
    }
  }
  for (const s of drawn)
    s.text = s.n > 1 ? `${s.name}: ${plural(s.n, "time")}, ${duration(s.busy)} in all, from ${duration(s.begin)}`
                     : `${s.name}: ${duration(s.ns)}, from ${duration(s.begin)}`;
  return drawn;
}

/** Device time by kernel, where there is more than one call to tell apart. */
function calls(spans) {
  const by = new Map();
  for (const [name, , , ns] of spans || []) {
    const c = by.get(name) || {name, n: 0, ns: 0, most: 0};
    ++c.n; c.ns += ns; c.most = Math.max(c.most, ns);
    by.set(name, c);
  }
  if (by.size < 2) return null;
  const rows = [...by.values()].sort((a, b) => b.ns - a.ns), all = rows.reduce((sum, c) => sum + c.ns, 0) || 1;
  return table([
    {title: "On the device", cell: (c) => [h("i.key", {style: {background: spanColour(c.name)}}), h("code", {}, c.name)]},
    {title: "Times", number: true, cell: (c) => count(c.n)},
    {title: "In all", number: true, cell: (c) => duration(c.ns)},
    {title: "Longest", number: true, cell: (c) => duration(c.most)},
    {title: "Share", number: true, cell: (c) => `${((100 * c.ns) / all).toFixed(1)} %`},
  ], rows, "Device time by kernel and copy");
}
