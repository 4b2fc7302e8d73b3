// How a graph was planned: its launches in order, what is joined in them, and what was refused and why.

const graph = report.graph || null;
const shownLaunches = 200;  // at once; for more somebody has to ask

const joinWords = {
  independent: "side by side: they share nothing that is written",
  same_invocation: "in the same invocation: what is handed over stays there",
  recompute: "by computing the producer where it is read",
  handoff: "through a tile in shared memory",
};

/** "stage 2 scan", "stages 1 decode, 2 scan". */
function stagesText(launch) {
  const calls = graph.launches[launch].calls;
  const some = calls.length > 6 ? [...calls.slice(0, 5), null, calls[calls.length - 1]] : calls;
  return `stage${calls.length > 1 ? "s" : ""} ${some.map((c) => (c ? `${c.stage} ${c.kernel}` : "…")).join(", ")}`;
}
const launchTitle = (launch) => `launch ${launch + 1}, ${stagesText(launch)}`;

/** The launch that is looked at, in all sections; whoever shows launches listens. */
const chosen = {launch: -1, hear: []};
function chooseLaunch(launch) {
  chosen.launch = launch;
  for (const hear of chosen.hear) hear(launch);
  showPassesOf(graph.launches[launch].kernel);
  showCodeOf(graph.launches[launch].kernel);
}

/** The kernel whose launches took the most device time; undefined if none was timed. */
function hottestKernel() {
  const times = new Map();
  for (const l of graph ? graph.launches : []) times.set(l.kernel, (times.get(l.kernel) || 0) + l.time.total_ns);
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0];
}
const hottestNote = () => (hottestKernel() ? h("span.note", {}, ` most device time: ${hottestKernel()}`) : null);
/** Its place in a list of kernels, or that of the first. */
const hottestOf = (names) => Math.max(0, names.indexOf(hottestKernel()));

/** Loops around a launch that are in the list before `loop`. */
const loopDepth = (loop) => graph.loops.slice(0, graph.loops.indexOf(loop))
  .filter((l) => l.launches[0] <= loop.launches[0] && l.launches[1] >= loop.launches[1]).length;
const indent = (depth) => ({"--depth": String(Math.min(depth, 6))});

function loopRow(loop) {
  const [first, last] = loop.launches, depth = loopDepth(loop);
  // A launch that is in no loop inside this one runs once per iteration.
  const direct = graph.launches.slice(first, last + 1).find((l) => l.depth === depth + 1);
  return h("li.loop", {style: indent(depth)}, h("strong", {}, loop.kind),
    h("span.quiet", {}, ` ${first === last ? `launch ${first + 1}` : `launches ${first + 1} to ${last + 1}`}`,
      direct ? `, ${plural(direct.runs, "iteration")}${depth ? " in all" : ""}` : ""));
}

/** "did not run", "20 times, 1.2 ms, fastest 50 us". */
function runsText(launch) {
  const t = launch.time, times = launch.runs === 0 ? "did not run" : launch.runs > 1 ? `${count(launch.runs)} times` : "";
  const fastest = t.count > 1 ? `, fastest ${duration(t.min_ns)}` : "", first = t.count < launch.runs ? ` for the first ${count(t.count)}` : "";
  const traffic = t.total_ns && launch.traffic_bytes ? rate(t.count * launch.traffic_bytes, t.total_ns) : "";
  return [times, t.count ? `${duration(t.total_ns)}${first}${fastest}` : "", traffic].filter((s) => s).join(", ");
}

function launchRow(launch, i) {
  const refusal = graph.refusals.find((r) => r.node === launch.calls[0].node);
  const has = (list, name) => list.some((k) => k === name);
  const pick = h("button.number", {type: "button", "aria-pressed": String(chosen.launch === i), "aria-label": `Choose launch ${i + 1}`, title: "Show its passes, code and memory", onclick: () => chooseLaunch(i)}, count(i + 1));
  chosen.hear.push((at) => { pick.setAttribute("aria-pressed", String(at === i)); row.classList.toggle("chosen", at === i); });
  const row = h("li.launch", {style: indent(launch.depth), "data-launch": i}, pick, h(".what", {},
    h(".line", {}, h("code.kernel", {}, launch.kernel),
      h("span.quiet", {}, runsText(launch)),
      h("span.links", {},
        has(report.optimizer.map((k) => k.program), launch.kernel) && optimizer.when() ? h("a", {href: "#optimizer", onclick: () => chooseLaunch(i)}, "Passes") : null,
        has(listings.code.map((k) => k.kernel), launch.kernel) ? h("a", {href: "#code", onclick: () => chooseLaunch(i)}, "Code") : null)),
    h("ul.plain", {},
      launch.calls.map((c, n) => (launch.calls.length === 1 && c.kernel === launch.kernel
        ? h("li", {}, `stage ${c.stage}`)
        : h("li", {}, `stage ${c.stage} `, h("code", {}, c.kernel), n ? h("span.join", {}, ` joined ${joinWords[launch.joins[n - 1]]}`) : null))),
      launch.elided.map((e) => h("li.gain", {}, h("code", {}, e.name), ` (${bytes(e.bytes)}) ${e.gone ? "never reaches device memory" : "is not needed here"}`)),
      launch.avoided_bytes ? h("li.gain", {}, `${bytes(launch.avoided_bytes)} of memory traffic avoided${launch.runs > 1 ? " each time" : ""}`) : null,
      refusal ? h("li.refusal", {}, "not joined with the one before: ", ticked(refusal.why)) : null)));
  return row;
}

const graphSection = {
  id: "graph", title: "Graph", when: () => graph !== null,
  draw() {
    const list = h("ol.launches", {}), m = graph.memory;
    const append = (from, to) => {
      for (let i = from; i < Math.min(to, graph.launches.length); ++i) {
        for (const loop of graph.loops) if (loop.launches[0] === i) list.append(loopRow(loop));
        list.append(launchRow(graph.launches[i], i));
      }
      if (to >= graph.launches.length) return;
      const more = h("li", {}, h("button", {type: "button", onclick: () => { more.remove(); append(to, graph.launches.length); }}, plural(graph.launches.length - to, "more launch")));
      list.append(more);
    };
    append(0, shownLaunches);
    const saved = m.peak_unplanned - m.peak;
    return [
      h(".cards", {},
        card("Launches", count(graph.executed.launches), `for ${plural(graph.executed.calls, "call")} of the graph`),
        card("Memory traffic avoided", bytes(graph.executed.avoided_bytes), graph.loops.length ? "in each run, loops included" : "in each run"),
        card("Peak with the plan", bytes(m.peak), `${bytes(m.parameters)} of it parameters`),
        card("Peak without", bytes(m.peak_unplanned), saved > 0 ? `${bytes(saved)} more` : "the same"),
        card("Planning", duration(graph.plan_ns), `${plural(graph.launches.length, "launch")} for ${plural(graph.calls, "call")} in the graph's text`)),
      h("h3", {}, "Launches and buffers"),
      graphDrawing(),
      h("h3", {}, "Launches"),
      list,
      graph.timed < graph.ran ? h("p.note", {}, `Times are of the first ${count(graph.timed)} of ${count(graph.ran)} launches.`) : null,
    ];
  },
};
