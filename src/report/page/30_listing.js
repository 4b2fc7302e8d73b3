// Programs and code as lines, and two versions side by side.

const glyphs = {same: " ", changed: "~", removed: "−", added: "+"};
// For those who hear the page.
const spoken = {was: "changed from", is: "changed to", removed: "removed", added: "added"};
const shownLines = 2000;  // at once; for more somebody has to ask

/** "saxpy.vyre:3", and what stands there. */
function sourceOf(files, line) {
  if (!line || !line[1]) return null;
  const name = files[line[3] || 0] ?? "";
  return {name, line: line[1], text: sourceText(name, line[1])};
}
const sourceLines = new Map();
function linesOf(name) {
  if (!sourceLines.has(name)) {
    const text = Object.hasOwn(listings.sources, name) ? listings.sources[name] : null;
    sourceLines.set(name, text === null ? null : text.split(/\r?\n/));
  }
  return sourceLines.get(name);
}
function sourceText(name, line) {
  const all = linesOf(name);
  return all && line <= all.length ? all[line - 1].trim() : "";
}
function sourceTitle(source) {
  return source ? `${source.name}:${source.line}${source.text ? "  " + source.text : ""}` : null;
}

/** A line of a program with its numbers, words and strings told apart. */
function tinted(text) {
  const pieces = text.match(/%\d+|"(?:[^"\\]|\\.)*"|[A-Za-z_][\w.]*|\s+|./g) || [];
  let atWord = true;
  return pieces.map((piece) => {
    if (piece[0] === "%") return h("span.value", {}, piece);
    if (piece[0] === '"') return h("span.string", {}, piece);
    if (atWord && /^[A-Za-z_]/.test(piece)) { atWord = false; return h("span.op", {}, piece); }
    return piece;
  });
}

/** One side of a row. */
function sideRow(row, side, files, glyph) {
  const line = row[side];
  if (!line) return h(".row.filler", {"aria-hidden": "true"}, " ");
  const isChanged = row.kind === "changed", kind = isChanged ? (side === "before" ? "was" : "is") : row.kind;
  const content = isChanged
    ? changedWords(row, side).map(([word, isNew]) => (isNew ? h("b", {}, word) : word))
    : tinted(line[0]);
  const source = sourceOf(files, line);
  return h(isChanged ? `.row.changed.${kind}` : `.row.${kind}`, {title: sourceTitle(source)},
    h("span.mark", {"aria-hidden": "true"}, glyph || glyphs[row.kind]),
    h("span.at", {"aria-hidden": "true"}, source ? source.line : ""),
    h("span.text", {}, spoken[kind] ? h("span.hidden", {}, spoken[kind] + ": ") : null, content));
}

/** Rows in groups: long runs that stay the same are folded but for some lines around. */
function folded(rows) {
  const around = 3, groups = [];
  for (let i = 0; i < rows.length;) {
    let end = i;
    while (end < rows.length && (rows[end].kind === "same") === (rows[i].kind === "same")) ++end;
    const first = i === 0 ? 0 : around, last = end === rows.length ? 0 : around;
    if (rows[i].kind === "same" && end - i > first + last + 2) {
      groups.push({rows: rows.slice(i, i + first)}, {rows: rows.slice(i + first, end - last), fold: true},
                  {rows: rows.slice(end - last, end)});
    } else {
      groups.push({rows: rows.slice(i, end)});
    }
    i = end;
  }
  return groups;
}

/** A group in pieces that can be drawn at once. */
function pieces(group) {
  const list = [];
  for (let i = 0; i < group.rows.length; i += shownLines) list.push({...group, rows: group.rows.slice(i, i + shownLines)});
  return list;
}

/** Scrolling one scrolls the other. */
function scrollTogether(a, b) {
  let leader = null, timer = 0;
  const follow = (from, to) => from.addEventListener("scroll", () => {
    if (leader && leader !== from) return;
    leader = from;
    clearTimeout(timer);
    timer = setTimeout(() => { leader = null; }, 80);
    to.scrollTop = from.scrollTop;
    to.scrollLeft = from.scrollLeft;
  }, {passive: true});
  follow(a, b);
  follow(b, a);
}

/** Two versions. view: "split" or "unified"; whole: nothing is folded. */
function diffView(before, after, {view, whole}) {
  const rows = diffLines(before.lines, after.lines);
  const groups = whole ? [{rows}] : folded(rows);
  const box = h(`.diff.${view}`, {});
  const tally = {changed: 0, removed: 0, added: 0};
  for (const row of rows) if (row.kind !== "same") ++tally[row.kind];
  const panes = view === "split"
    ? ["before", "after"].map((side) => h(".pane", {tabindex: 0, role: "region", "aria-label": `Program ${side}`}, h(".lines")))
    : [h(".pane", {tabindex: 0, role: "region", "aria-label": "Program before and after"}, h(".lines"))];
  const fillBoth = (into, shown) => {
    const isPair = (row) => row.kind === "same" || row.kind === "changed";
    for (let i = 0; i < shown.length;) {
      // What went stands beside what came.
      let end = i + 1;
      while (!isPair(shown[i]) && end < shown.length && !isPair(shown[end])) ++end;
      const run = shown.slice(i, end), left = run.filter((r) => r.before), right = run.filter((r) => r.after);
      for (let k = 0; k < Math.max(left.length, right.length); ++k) {
        into[0].append(sideRow(left[k] || {}, "before", before.files));
        into[1].append(sideRow(right[k] || {}, "after", after.files));
      }
      i = end;
    }
  };
  const fill = (into, shown) => {
    if (view === "split") return fillBoth(into, shown);
    for (const row of shown) {
      if (row.kind === "same") {
        into[0].append(sideRow(row, "after", after.files));
      } else {
        if (row.before) into[0].append(sideRow(row, "before", before.files, glyphs.removed));
        if (row.after) into[0].append(sideRow(row, "after", after.files, glyphs.added));
      }
    }
  };
  const lines = panes.map((p) => p.firstChild);
  let shown = 0;
  for (const group of groups.flatMap(pieces)) {
    if (!group.rows.length) continue;
    const hide = group.fold || shown > shownLines;
    if (!hide) { fill(lines, group.rows); shown += group.rows.length; continue; }
    const unfold = () => {
      const parts = buttons.map(() => document.createDocumentFragment());
      fill(parts, group.rows);
      buttons.forEach((b, i) => b.replaceWith(parts[i]));
    };
    const label = `${plural(group.rows.length, group.fold ? "unchanged line" : "more line")}`;
    const buttons = lines.map((l, i) => {
      const b = h("button.fold", {type: "button", onclick: unfold, tabindex: i ? -1 : null}, "⋯ " + label);
      l.append(b);
      return b;
    });
  }
  if (view === "split") {
    panes.forEach((p, i) => box.append(h(".half", {}, h(".head", {}, i ? "After" : "Before"), p)));
    scrollTogether(panes[0], panes[1]);
  } else {
    box.append(h(".half", {}, h(".head", {}, "Before and after"), panes[0]));
  }
  // n and p go from change to change.
  const go = (step) => {
    const main = panes[panes.length - 1], all = [...main.querySelectorAll(".row")];
    const isChange = (r) => r && !r.classList.contains("same");
    const starts = all.filter((r, i) => isChange(r) && !isChange(all[i - 1]));
    if (!starts.length) return;
    const at = starts.findIndex((r) => r.classList.contains("here"));
    const next = starts[(at + step + starts.length + (at < 0 && step < 0 ? 1 : 0)) % starts.length];
    for (const r of box.querySelectorAll(".here")) r.classList.remove("here");
    next.classList.add("here");
    main.scrollTop = next.offsetTop - main.clientHeight / 3;
  };
  return {box, tally, go};
}
