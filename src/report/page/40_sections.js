// What a run was: overview, errors, outputs, times, memory. A section is {id, title, when, draw}: it is there
// if `when` says that there is data for it.

function fact(name, value, wide) {
  return value === "" || value === null || value === undefined || value === false ? null
    : h(wide ? ".fact.wide" : ".fact", {}, h("dt", {}, name), h("dd", {}, value));
}

function card(title, value, note) {
  return h(".card", {}, h(".label", {}, title), h(".figure", {}, value), note ? h(".note", {}, note) : null);
}

const shape = (list) => list.map(count).join(" × ");
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The memory bandwidth of the run, and its share of the device's. */
function bandwidthCard() {
  const b = report.bandwidth, all = b.device_bytes_per_second;
  if (!b.bytes_per_second) return null;
  return card("Memory traffic", rate(b.bytes_per_second, 1e9), [`${bytes(b.traffic_bytes)}; `,
    all ? `${Number(((100 * b.bytes_per_second) / all).toPrecision(2))} % of the ${rate(all, 1e9)} of a copy on this device`
      : `bandwidth of the device not measured: ${b.not_measured || "the run failed"}`]);
}

const overview = {
  id: "overview", title: "Overview", when: () => true,
  draw() {
    const t = report.device_time, host = Object.values(report.stages_ns).reduce((a, b) => a + b, 0);
    const changed = report.optimizer.flatMap((k) => k.runs).filter((r) => r.decision === "changed").length;
    const ran = report.optimizer.flatMap((k) => k.runs).filter((r) => r.decision !== "not_dirty").length;
    const peak = report.bytes.device_peak;
    return [
      h(".cards", {},
        t.repeats ? card(t.repeats > 1 ? "Device time, median" : "Device time", duration(t.median_ns),
          t.repeats > 1 ? `${plural(t.repeats, "run")}, fastest ${duration(t.min_ns)}` : plural(report.launches, "launch")) : null,
        bandwidthCard(),
        card("Host time", duration(host), "all stages of the first run"),
        ran ? card("Passes", `${changed} of ${ran}`, "runs changed the program") : null,
        peak ? card("Device memory", bytes(peak), report.graph ? `at most; ${bytes(report.graph.memory.peak_unplanned)} without the plan` : "most at once") : null,
        report.code.origin ? card("Code", report.code.origin, report.code.origin === "compiled" ? "made for this run" : "nothing was compiled") : null),
      h("dl.facts", {},
        fact(report.kind === "graph" ? "Graph" : "Kernel", report.program ? h("code", {}, report.program) : ""),
        fact("File", h("code", {}, report.file)),
        fact("Device", report.device.name ? `${report.device.name}` : ""),
        fact("Backend", report.backend ? h("code", {}, `${report.backend}:${report.device.index}`) : ""),
        fact("Chosen because", report.chosen_because, true),
        fact("Grid", report.grid[0] ? shape(report.grid) : ""),
        fact("Workgroup", report.workgroup[0] ? shape(report.workgroup) : ""),
        fact("Workgroups", report.num_workgroups[0] ? shape(report.num_workgroups) : ""),
        fact("Subgroup", report.subgroup_size ? plural(report.subgroup_size, "lane") : ""),
        fact("Launches", report.launches ? (report.segments > report.launches ? `${count(report.launches)}, split into ${count(report.segments)}` : count(report.launches)) : ""),
        fact("Verified", report.verified ? "a second run gave the same bytes" : ""),
        fact("Host", [report.host.name, report.host.system].filter((s) => s).join(", ")),
        fact("Date", report.date.replace("T", " ").replace("Z", " UTC")),
        fact("Version", report.vyre ? [report.vyre, report.commit ? [", commit ", h("code", {}, report.commit)] : null] : ""),
        fact("Fingerprint", report.fingerprint ? h("code", {}, report.fingerprint) : ""),
        fact("Command", report.command.length ? h("code.command", {}, ["vyre", ...report.command].map(quoted).join(" ")) : "", true)),
    ];
  },
};

/** A place and its source line, marked by carets; `excerpt` is [text, column of the mark, its length] or null. */
function locationOf(at, excerpt, mark) {
  if (!at.file && !at.line) return null;
  const number = String(at.line), gutter = " ".repeat(number.length);
  return h(".place", {}, h("code", {}, visible([at.file, at.line, at.column].filter((p) => p).join(":"))),
    excerpt ? h("pre.source", {tabindex: 0, role: "region", "aria-label": `Source line ${at.line}`},
      h("span.at", {}, `${number} | `), excerpt[0],
      excerpt[2] ? ["\n", h("span.at", {}, `${gutter} | `), " ".repeat(excerpt[1]), h("span.caret", {}, mark.repeat(excerpt[2]))] : null) : null);
}

function message(d, excerpts) {
  return h(`.message.${d.severity === "error" ? "error" : "warning"}`, {},
    h("p.said", {}, h("span.badge", {}, `${d.severity} ${d.code}`), " ", ticked(visible(d.message))),
    locationOf(d, excerpts[0], "^"),
    d.op && !d.line ? h("p", {}, h("strong", {}, "Operation: "), h("code", {}, d.op)) : null,
    d.notes.map((n, i) => h(".noted", {}, h("p.said", {}, h("strong", {}, "Note: "), ticked(visible(n.message))), locationOf(n, excerpts[i + 1], "-"))),
    d.fix ? h("p.said", {}, h("strong", {}, "Fix: "), ticked(visible(d.fix))) : null,
    h("p.note", {}, h("code", {}, `vyre explain ${d.code}`), " describes this code."));
}

const messages = {
  id: "messages", title: report.outcome === "failed" ? "Errors" : "Warnings", when: () => report.diagnostics.length > 0,
  draw: () => report.diagnostics.map((d, i) => message(d, listings.excerpts[i])),
};

/** An output that is a picture; its pixels are drawn as they are, without interpolation. */
function pictureOf(p) {
  const [width, height] = p.shown, name = `${p.name}, ${count(p.width)} × ${count(p.height)}`;
  const canvas = h("canvas", {width, height, role: "img", "aria-label": `Picture of ${name}`, style: {"max-width": `${width * Math.max(1, Math.floor(256 / Math.max(width, height)))}px`}});
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  const pixels = atob(p.pixels), channels = p.gray ? 1 : 3;
  for (let i = 0; i < width * height; ++i) {
    for (let c = 0; c < 3; ++c) image.data[4 * i + c] = pixels.charCodeAt(channels * i + (p.gray ? 0 : c));
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return h("figure.picture", {}, canvas, h("figcaption.note", {}, name,
    !p.gray ? "." : p.black === p.white ? `: all values are ${p.black}.` : `: black is ${Number(p.black.toPrecision(6))}, white is ${Number(p.white.toPrecision(6))}.`, width < p.width ? ` Shrunk to ${count(width)} × ${count(height)}.` : ""));
}

const outputs = {
  id: "outputs", title: "Outputs", when: () => report.buffers.some((b) => b.values.length > 0),
  draw: () => [
    listings.pictures.length ? h(".pictures", {}, listings.pictures.map(pictureOf)) : null,
    table([
      {title: "Name", cell: (b) => h("code", {}, b.name)},
      {title: "Elements", cell: (b) => h("code", {}, `${b.element}[${count(b.count)}]`)},
      {title: "First values", cell: (b) => h("code.values", {}, b.values.join(" ") + (b.count > b.values.length ? " …" : ""))},
    ], report.buffers.filter((b) => b.values.length > 0), "First values of outputs")],
};

/** The colour of a stage; null for other names. */
function stageColour(name) {
  const stage = Object.keys(report.stages_ns).indexOf(name);
  return stage < 0 ? null : `var(--stage-${(stage + 8) % 9})`;
}

const times = {
  id: "times", title: "Times", when: () => Object.values(report.stages_ns).some((ns) => ns > 0),
  draw() {
    const stages = Object.entries(report.stages_ns).filter(([, ns]) => ns > 0);
    const all = stages.reduce((sum, [, ns]) => sum + ns, 0);
    const each = report.device_time.each_ns;
    return [
      h(".stack", {role: "img", "aria-label": stages.map(([n, ns]) => `${n} ${duration(ns)}`).join(", ")},
        stages.map(([name, ns]) => h("span", {title: `${name}: ${duration(ns)}`, style: {"flex-grow": String(ns), background: stageColour(name)}}))),
      h(".times", {}, table([
        {title: "Stage", cell: ([name]) => [h("i.key", {style: {background: stageColour(name)}}), name]},
        {title: "Time", number: true, cell: ([, ns]) => duration(ns)},
        {title: "Share", number: true, cell: ([, ns]) => `${((100 * ns) / all).toFixed(1)} %`},
      ], stages, "Host time by stage"),
      each.length > 1 ? repeats(each) : null),
    ];
  },
};

/** The device time of every repeat, as dots over time. */
function repeats(each) {
  // A first run that is slow would press all others onto the ground: such ones stand at the top edge.
  const t = report.device_time, most = Math.min(t.max_ns, 4 * t.median_ns) || 1, n = each.length, width = 800, height = 96;
  const above = each.filter((v) => v > most).length;
  const y = (v) => height - 6 - (Math.min(v, most) / most) * (height - 12);
  const dots = each.map((v, i) => svg("circle", {cx: 6 + (i / Math.max(1, n - 1)) * (width - 12), cy: y(v), r: n > 200 ? 1.6 : 2.6, class: v > most ? "above" : ""},
    svg("title", {}, `run ${i + 1}: ${duration(v)}`)));
  const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Device time of ${plural(t.repeats, "run")}: least ${duration(t.min_ns)}, median ${duration(t.median_ns)}, most ${duration(t.max_ns)}`},
    svg("line", {x1: 0, x2: width, y1: y(t.median_ns), y2: y(t.median_ns)}), dots);
  return h(".repeats", {}, h("h3", {}, "Device time by run"), picture,
    h("p.note", {}, `Least ${duration(t.min_ns)}, median ${duration(t.median_ns)} (line), most ${duration(t.max_ns)}.`, above ? ` ${plural(above, "run")} above ${duration(most)} at the top edge.` : "",
      t.repeats > n ? ` The first ${count(n)} of ${count(t.repeats)} are shown.` : ""));
}

const memory = {
  id: "memory", title: "Buffers", when: () => report.buffers.length > 0,
  draw() {
    const most = Math.max(1, ...report.buffers.map((b) => b.bytes));
    return [
      h("dl.facts", {},
        fact("Uploaded", bytes(report.bytes.uploaded)),
        fact("Read back", bytes(report.bytes.read_back)),
        fact("Device peak", bytes(report.bytes.device_peak)),
        fact("Compile cache", `${count(report.code.cache.memory_hits)} from memory, ${count(report.code.cache.disk_hits)} from disk, ${plural(report.code.cache.misses, "miss")}`)),
      table([
        {title: "Name", cell: (b) => h("code", {}, b.name)},
        {title: "Role", cell: (b) => h(`span.role.${b.role}`, {}, b.role)},
        {title: "Element", cell: (b) => h("code", {}, b.element)},
        {title: "Count", number: true, cell: (b) => count(b.count)},
        {title: "Bytes", number: true, cell: (b) => bytes(b.bytes)},
        {title: "", cell: (b) => h(".meter", {"aria-hidden": "true"}, h("span", {style: {width: `${(100 * b.bytes) / most}%`}}))},
      ], report.buffers, "Parameters of the program"),
    ];
  },
};
