// The graph as a drawing: launches from top to bottom, and on the edges the buffers with their bytes.
// Ranks are longest paths; an edge over several ranks has a point in each of them.

const drawnLaunches = 60;
const box = {height: 44, gap: 48, rank: 108};

/**
 * Edges {from, to, buffers, next}. A launch is its number, a parameter "in 3" or "out 3". `next`: what
 * an iteration of a loop hands to the next one.
 */
function graphEdges() {
  const edges = new Map(), writer = new Map();
  const add = (from, to, buffer, next) => {
    const key = `${from}>${to}>${next}`;
    if (!edges.has(key)) edges.set(key, {from, to, next, buffers: []});
    edges.get(key).buffers.push(buffer);
  };
  const byNumber = new Map(graph.buffers.map((b) => [b.buffer, b]));
  for (const b of graph.buffers) if (b.input) writer.set(b.buffer, `in ${b.buffer}`);
  graph.launches.forEach((launch, i) => {
    for (const b of launch.reads) {
      if (writer.has(b)) add(writer.get(b), i, byNumber.get(b), false);
      const around = graph.loops.map((l) => l.launches).filter(([first, last]) => first <= i && i <= last);
      const end = Math.max(-1, ...around.map(([, last]) => last));
      for (let j = end; j >= i; --j)
        if (graph.launches[j].writes.includes(b)) { add(j, i, byNumber.get(b), true); break; }
    }
    for (const b of launch.writes) writer.set(b, i);
  });
  for (const b of graph.buffers) if (b.output && typeof writer.get(b.buffer) === "number") add(writer.get(b.buffer), `out ${b.buffer}`, b, false);
  return [...edges.values()];
}

const nodeName = (id) => (typeof id === "number" ? `${id + 1} ${graph.launches[id].kernel}` : graph.buffers.find((b) => b.buffer === Number(id.split(" ")[1])).name);
/** The second line of a node. */
function nodeNote(id) {
  if (typeof id === "string") return id.startsWith("in") ? "input" : "output";
  const launch = graph.launches[id], times = launch.runs > 1 ? `${count(launch.runs)}×` : "";
  return [launch.calls.length > 1 ? plural(launch.calls.length, "call") : "", times, launch.time.count ? duration(launch.time.total_ns) : ""].filter((s) => s).join(" · ");
}
const edgeText = (e) => e.buffers.map((b) => `${b.name} ${bytes(b.bytes)}`);
const shortText = (texts) => (texts.length > 1 ? `${texts[0]} +${texts.length - 1}` : texts[0]);
const clipped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Nodes by rank: {id, rank, width, x, before, after}; points of long edges have the id null. */
function rankedNodes(edges) {
  const nodes = new Map(), forward = edges.filter((e) => !e.next);
  const make = (id, rank, width) => ({id, rank, width, x: 0, before: []});
  for (const id of forward.flatMap((e) => [e.from, e.to])) nodes.set(id, null);
  graph.launches.forEach((_, i) => nodes.set(i, null));
  for (const id of nodes.keys()) nodes.set(id, make(id, 0, Math.min(230, 26 + 7.6 * Math.max(nodeName(id).length, nodeNote(id).length, 8))));
  const rankOf = (id) => nodes.get(id).rank;
  const launches = graph.launches.map((_, i) => i);
  for (const i of launches) nodes.get(i).rank = 1 + Math.max(0, ...forward.filter((e) => e.to === i).map((e) => rankOf(e.from)));
  for (const e of forward) {
    if (typeof e.to !== "number") nodes.get(e.to).rank = rankOf(e.from) + 1;
  }
  for (const [id, node] of nodes)
    if (typeof id === "string" && id.startsWith("in")) node.rank = Math.min(...forward.filter((e) => e.from === id).map((e) => rankOf(e.to))) - 1;
  const ranks = [];
  const put = (node) => { (ranks[node.rank] ||= []).push(node); return node; };
  for (const node of nodes.values()) put(node);
  for (const e of forward) {
    e.path = [nodes.get(e.from)];
    for (let rank = rankOf(e.from) + 1; rank < rankOf(e.to); ++rank) e.path.push(put(make(null, rank, 20)));
    e.path.push(nodes.get(e.to));
    e.path.slice(1).forEach((node, i) => node.before.push(e.path[i]));
  }
  return {nodes, ranks: ranks.filter((r) => r)};
}

/** Gives every node its x: near those before it, without overlap. Returns the width. */
function placeNodes(ranks) {
  const mean = (list) => list.reduce((sum, v) => sum + v, 0) / list.length;
  for (const rank of ranks) {
    const wanted = new Map(rank.map((node, i) => [node, node.before.length ? mean(node.before.map((b) => b.x)) : i * 160]));
    rank.sort((a, b) => wanted.get(a) - wanted.get(b));
    let right = -Infinity;
    for (const node of rank) {
      node.x = Math.max(wanted.get(node), right + box.gap + node.width / 2);
      right = node.x + node.width / 2;
    }
    const shift = mean(rank.map((node) => wanted.get(node) - node.x));
    for (const node of rank) node.x += shift;
  }
  const all = ranks.flat(), left = Math.min(...all.map((n) => n.x - n.width / 2)) - 90;
  for (const node of all) node.x -= left;
  return Math.max(...all.map((n) => n.x + n.width / 2)) + 90;
}

const topOf = (node) => 10 + node.rank * box.rank;

/** Spreads the ends of the edges of each node along its side, in the order of their other ends. */
function spreadEnds(edges) {
  for (const [end, own, other] of [["begin", 0, 1], ["end", -1, -2]]) {
    const by = new Map();
    for (const e of edges) by.set(e.path.at(own), [...(by.get(e.path.at(own)) || []), e]);
    for (const [node, list] of by) {
      const step = Math.min(26, (0.8 * node.width) / list.length);
      list.sort((a, b) => a.path.at(other).x - b.path.at(other).x)
        .forEach((e, i) => { e[end] = node.x + (i - (list.length - 1) / 2) * step; });
    }
  }
}

/** The x of an edge at a node of its path. */
const edgeX = (e, i) => (i === 0 ? e.begin : i === e.path.length - 1 ? e.end : e.path[i].x);

/** A smooth line through the nodes of an edge; points of long edges are as high as launches. */
const lineOf = (e) => e.path.slice(1).map((to, i) => {
  const x0 = edgeX(e, i), x1 = edgeX(e, i + 1), y0 = topOf(e.path[i]) + box.height, y1 = topOf(to), middle = (y0 + y1) / 2;
  return `${i ? "" : `M${x0} ${y0} `}C${x0} ${middle} ${x1} ${middle} ${x1} ${y1}${to.id === null ? ` L${x1} ${y1 + box.height}` : ""}`;
}).join(" ");

/** Labels in the gap below a rank: each in the first of three lines where it has room. */
function labelPlaces() {
  const taken = new Map();
  return (gap, x, width) => {
    for (let line = 0; line < 3; ++line) {
      const key = `${gap} ${line}`, others = taken.get(key) || [];
      if (line < 2 && others.some(([l, r]) => x - width / 2 < r + 6 && l - 6 < x + width / 2)) continue;
      taken.set(key, [...others, [x - width / 2, x + width / 2]]);
      return 10 + gap * box.rank + box.height + 17 + [1, 0, 2][line] * 20;
    }
    return 0;
  };
}

function drawGraph() {
  const edges = graphEdges(), {nodes, ranks} = rankedNodes(edges);
  const backs = edges.filter((e) => e.next && e.from !== e.to);
  let width = placeNodes(ranks);
  const place = labelPlaces(), lines = [], labels = [];
  const label = (text, x, y, next) => labels.push(svg("text", {class: next ? "next" : "", x, y, "text-anchor": next ? "start" : "middle"}, clipped(text, 34)));
  const forward = edges.filter((e) => !e.next);
  spreadEnds(forward);
  for (const e of forward) {
    const texts = edgeText(e), text = shortText(texts), x = (edgeX(e, 0) + edgeX(e, 1)) / 2;
    const x1 = e.end, y1 = topOf(e.path.at(-1));
    lines.push(svg("path", {class: "edge", d: lineOf(e)}, svg("title", {}, texts.join(", "))), svg("path", {class: "head", d: `M${x1 - 4} ${y1 - 8} h8 l-4 8 z`}));
    label(text, x, place(e.path[0].rank, x, 7.3 * Math.min(34, text.length)), false);
  }
  backs.forEach((e, i) => {
    const [from, to] = [nodes.get(e.from), nodes.get(e.to)], side = width - 70 + 26 * i;
    const y0 = topOf(from) + box.height / 2, y1 = topOf(to) + box.height / 2, x0 = from.x + from.width / 2, x1 = to.x + to.width / 2;
    lines.push(svg("path", {class: "edge next", d: `M${x0} ${y0} C${side} ${y0} ${side} ${y1} ${x1 + 2} ${y1}`}, svg("title", {}, `${edgeText(e).join(", ")}, for the next iteration`)),
      svg("path", {class: "head", d: `M${x1 + 8} ${y1 - 4} v8 l-8 -4 z`}));
    label(shortText(edgeText(e)), (side * 3 + Math.max(x0, x1)) / 4 + 8, (y0 + y1) / 2 + 4, true);
  });
  if (backs.length) width += 26 * backs.length + 130;
  const boxes = [...nodes.values()].map((node) => {
    const is = typeof node.id === "number", y = topOf(node);
    const group = svg("g", {class: is ? "node" : "node parameter", "data-launch": is ? node.id : ""},
      svg("title", {}, is ? launchTitle(node.id) : nodeName(node.id)),
      svg("rect", {x: node.x - node.width / 2, y, width: node.width, height: box.height, rx: is ? 8 : 22}),
      svg("text", {x: node.x, y: y + 19, "text-anchor": "middle"}, clipped(nodeName(node.id), Math.floor((node.width - 16) / 7.4))),
      svg("text", {class: "quiet", x: node.x, y: y + 35, "text-anchor": "middle"},
nodeNote(node.id)));
    if (is) {
      group.addEventListener("click", () => chooseLaunch(node.id));
      chosen.hear.push((at) => group.classList.toggle("chosen", at === node.id));
    }
    return group;
  });
  const height = 20 + (Math.max(...[...nodes.values()].map((n) => n.rank)) * box.rank) + box.height;
  const first = Math.min(...[...nodes.values()].map(topOf)) - 10;
  return svg("svg", {class: "drawing", viewBox: `0 ${first} ${Math.ceil(width)} ${height - first}`, width: Math.ceil(width), height: height - first,
    role: "img", "aria-label": `Drawing of the graph: ${plural(graph.launches.length, "launch")}, ${plural(edges.length, "edge")}; the table below has the edges`},
    lines, boxes, labels);
}

/** The drawing, with its edges as a table. */
function graphDrawing() {
  if (graph.launches.length > drawnLaunches)
    return h("p.note", {}, `Graphs of up to ${drawnLaunches} launches are drawn; this one has ${count(graph.launches.length)}.`);
  return [
    h(".scroll.drawn", {tabindex: 0, role: "region", "aria-label": "Drawing of the graph"}, drawGraph()),
    h("details.astable", {}, h("summary", {}, "Edges as a table"), table([
      {title: "From", cell: (e) => nodeName(e.from)},
      {title: "To", cell: (e) => nodeName(e.to)},
      {title: "Buffers", cell: (e) => edgeText(e).join(", ")},
      {title: "", cell: (e) => (e.next ? "for the next iteration" : "")},
    ], graphEdges(), "Edges of the graph")),
  ];
}
