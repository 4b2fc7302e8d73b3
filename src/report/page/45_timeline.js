// What happened when: stages on the host, copies and launches on the device. Spans that would be
// narrower than a pixel are drawn as one with their neighbours, so that any number of calls fits.

const timeline = {
  id: "timeline", title: "Time line", when: () => listings.spans.length > 0,
  draw() {
    const holder = h(".timeline", {});
    const ranges = {all: [0, extent(listings.spans)[1]], device: extent(listings.spans.filter((s) => s[1] === "device")),
                    launches: extent(listings.spans.filter((s) => s[4] !== undefined))};
    const size = ([from, to]) => to - from;
    const draw = (range) => holder.replaceChildren(...drawSpans(range).filter((e) => e));
    draw(ranges.all);
    // Compiling may take a thousand times as long as what it is for, and the launches of a graph lie at
    // the beginning of its run: when each of them began is not known, only what it took.
    const zooms = [["all", "Whole run"]];
    for (const [name, label] of [["device", "From the first launch"], ["launches", "Launches"]])
      if (size(ranges[name]) > 1 && size(ranges[name]) < size(ranges[zooms[zooms.length - 1][0]]) / 2) zooms.push([name, label]);
    return [zooms.length > 1 ? choice("Range", zooms, "all", (v) => draw(ranges[v])) : null, holder];
  },
};

/** Stages and copies have the colours that they have elsewhere; kernels take turns with the loud ones. */
function spanColour(name) {
  const stage = stageColour(name);
  if (stage) return stage;
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
      drawn.map((s) => h((100 * s.ns) / end < 1 ? "span.thin" : "span", {
        role: "option", "aria-label": s.text, title: s.text,
        onpointerenter: () => { readout.textContent = s.text; },
        onclick: s.launch === undefined ? null : () => chooseLaunch(s.launch),
        style: {left: `${(100 * (s.begin - from)) / end}%`, width: `max(1px, ${(100 * s.ns) / end}%)`, background: shares(s, colours)}},
        (100 * s.ns) / end > 6 ? h("em", {style: s.parts.length === 1 && colours.get(s.parts[0].name) === "var(--stage-6)" ? {color: "var(--on-6)"} : {}}, s.name) : null)));
    stepThrough(bar, [...bar.children], (i) => { readout.textContent = drawn[i].text; });
    return h(".track", {}, h(".name", {}, name === "device" && report.device.name ? h("span", {title: report.device.name}, "device") : name), bar);
  };
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((f) => h("span", {style: {left: `${100 * f}%`}}, from ? (f ? `+${duration(Math.round(end * f))}` : duration(from)) : duration(Math.round(end * f))));
  return [h(".tracks", {}, [...tracks].map(lane), h(".track.axis", {}, h(".name"), h(".ticks", {"aria-hidden": "true"}, ticks))),
          readout, calls(tracks.get("device"))];
}

/** What a span is in words: of a graph's launch, its stages. */
const spanTitle = (name, launch) => (launch === undefined ? name : `${name} (${launchTitle(launch)})`);

/**
 * Neighbours that are closer than `least` become one, with what is in it by kernel: calls of a loop
 * by the thousand are one span. `launch` is there if all are of that one.
 */
function joined(spans, least) {
  const drawn = [];
  const add = (s, name, launch, ns) => {
    const key = launch === undefined ? name : launch;
    const kind = s.kinds.get(key) || {name, launch, n: 0, ns: 0};
    ++kind.n;
    kind.ns += ns;
    s.kinds.set(key, kind);
  };
  for (const [name, , begin, ns, launch] of [...spans].sort((a, b) => a[2] - b[2])) {
    const last = drawn[drawn.length - 1];
    if (last && begin - (last.begin + last.ns) < least && ns < least && last.each < least) {
      last.ns = begin + ns - last.begin;
      ++last.n;
      last.busy += ns;
      add(last, name, launch, ns);
    } else {
      drawn.push({begin, ns, n: 1, each: ns, busy: ns, kinds: new Map()});
      add(drawn[drawn.length - 1], name, launch, ns);
    }
  }
  for (const s of drawn) {
    const kinds = [...s.kinds.values()].sort((a, b) => b.ns - a.ns);
    s.parts = kinds;
    s.launch = kinds.length === 1 ? kinds[0].launch : undefined;
    const kernels = new Map();  // launches of one kernel look the same
    for (const k of kinds) kernels.set(k.name, (kernels.get(k.name) || 0) + k.n);
    s.name = [...kernels].slice(0, 3).map(([name, n]) => (s.n > 1 ? `${name} ×${count(n)}` : name)).join(", ") + (kernels.size > 3 ? ", …" : "");
    s.text = s.n === 1 ? `${spanTitle(kinds[0].name, s.launch)}: ${duration(s.ns)}, from ${duration(s.begin)}`
      : `${kinds.slice(0, 8).map((k) => `${spanTitle(k.name, k.launch)} ${plural(k.n, "time")}, ${duration(k.ns)}`).join("; ")}${kinds.length > 8 ? `; ${kinds.length - 8} others` : ""}; from ${duration(s.begin)}`;
  }
  return drawn;
}

/** Several kernels in one span: their colours by share of its time. */
function shares(span, colours) {
  if (span.parts.length === 1) return colours.get(span.parts[0].name);
  let at = 0;
  return `linear-gradient(to bottom, ${span.parts.map((k) => {
    const from = at;
    at += (100 * k.ns) / (span.busy || 1);
    return `${colours.get(k.name)} ${from.toFixed(1)}% ${at.toFixed(1)}%`;
  }).join(", ")})`;
}

/** Device time by kernel, of graphs by launch, where there is more than one call to tell apart. */
function calls(spans) {
  const by = new Map();
  for (const [name, , , ns, launch] of spans || []) {
    const key = launch === undefined ? name : launch, c = by.get(key) || {name, launch, n: 0, ns: 0, most: 0};
    ++c.n; c.ns += ns; c.most = Math.max(c.most, ns);
    by.set(key, c);
  }
  if (by.size < 2) return null;
  const rows = [...by.values()].sort((a, b) => b.ns - a.ns), all = rows.reduce((sum, c) => sum + c.ns, 0) || 1;
  const launches = rows.some((c) => c.launch !== undefined);
  return table([
    {title: "On the device", cell: (c) => [h("i.key", {style: {background: spanColour(c.name)}}), h("code", {}, c.name)]},
    launches ? {title: "Launch", cell: (c) => (c.launch === undefined ? "" : h("span.stages", {}, launchTitle(c.launch).replace(/^launch /, "")))} : null,
    {title: "Times", number: true, cell: (c) => count(c.n)},
    {title: "In all", number: true, cell: (c) => duration(c.ns)},
    {title: "Longest", number: true, cell: (c) => duration(c.most)},
    launches ? {title: "Memory traffic", number: true, cell: (c) => (c.launch === undefined || !c.ns ? "" : rate(c.n * graph.launches[c.launch].traffic_bytes, c.ns))} : null,
    {title: "Share", number: true, cell: (c) => `${((100 * c.ns) / all).toFixed(1)} %`},
  ].filter((c) => c), rows.slice(0, 200), "Device time by kernel and copy");
}
