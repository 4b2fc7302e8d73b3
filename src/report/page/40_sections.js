// What a run was: overview, errors, times, memory. A section is {id, title, when, draw}: it is there
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
        fact("Workgroup", report.workgroup[0] ? shape(report.workgroup) : ""),
        fact("Workgroups", report.num_workgroups[0] ? shape(report.num_workgroups) : ""),
        fact("Subgroup", report.subgroup_size ? plural(report.subgroup_size, "lane") : ""),
        fact("Launches", report.launches ? (report.segments > report.launches ? `${count(report.launches)}, split into ${count(report.segments)}` : count(report.launches)) : ""),
        fact("Verified", report.verified ? "a second run gave the same bytes" : ""),
        fact("Fingerprint", report.fingerprint ? h("code", {}, report.fingerprint) : ""),
        fact("Command", report.command.length ? h("code.command", {}, ["vyre", ...report.command].map(quoted).join(" ")) : "", true)),
    ];
  },
};

const messages = {
  id: "messages", title: report.outcome === "failed" ? "Errors" : "Warnings", when: () => report.diagnostics.length > 0,
  draw() {
    return report.diagnostics.map((d) => {
      const text = d.line ? sourceText(d.file, d.line) : "";
      return h(`.message.${d.severity === "error" ? "error" : "warning"}`, {},
        h("p", {}, h("span.badge", {}, `${d.severity} ${d.code}`), " ", d.message),
        d.line ? h("p.place", {}, h("code", {}, `${d.file}:${d.line}`), text ? h("code.source", {}, text) : null) : null,
        (d.notes || []).map((n) => h("p.place", {}, "Note: ", typeof n === "string" ? n : n.message)),
        d.fix ? h("p", {}, h("strong", {}, "Fix: "), d.fix) : null);
    });
  },
};

const times = {
  id: "times", title: "Times", when: () => Object.values(report.stages_ns).some((ns) => ns > 0),
  draw() {
    const stages = Object.entries(report.stages_ns).filter(([, ns]) => ns > 0);
    const all = stages.reduce((sum, [, ns]) => sum + ns, 0);
    const hue = (name) => `var(--stage-${Object.keys(report.stages_ns).indexOf(name) % 8})`;
    const each = report.device_time.each_ns;
    return [
      h(".stack", {role: "img", "aria-label": stages.map(([n, ns]) => `${n} ${duration(ns)}`).join(", ")},
        stages.map(([name, ns]) => h("span", {title: `${name}: ${duration(ns)}`, style: {"flex-grow": String(ns), background: hue(name)}}))),
      h(".times", {}, table([
        {title: "Stage", cell: ([name]) => [h("i.key", {style: {background: hue(name)}}), name]},
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
  const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Device time of ${plural(t.repeats, "run")}: least ${duration(t.min_ns)}, median ${duration(t.median_ns)}, most ${duration(t.max_ns)}`);
  const y = (v) => height - 6 - (Math.min(v, most) / most) * (height - 12);
  const line = document.createElementNS(ns, "line");
  for (const [key, value] of [["x1", 0], ["x2", width], ["y1", y(t.median_ns)], ["y2", y(t.median_ns)]]) line.setAttribute(key, value);
  svg.append(line);
  each.forEach((v, i) => {
    const dot = document.createElementNS(ns, "circle");
    dot.setAttribute("cx", 6 + (i / Math.max(1, n - 1)) * (width - 12));
    dot.setAttribute("cy", y(v));
    dot.setAttribute("r", n > 200 ? 1.6 : 2.6);
    if (v > most) dot.setAttribute("class", "above");
    const title = document.createElementNS(ns, "title");
    title.textContent = `run ${i + 1}: ${duration(v)}`;
    dot.append(title);
    svg.append(dot);
  });
  return h(".repeats", {}, h("h3", {}, "Device time by run"), svg,
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
