// What changed between two versions of a program. Values are numbered anew after every pass, so
// numbers are not compared: lines are matched by their op and the place in the source that it came
// from, and then operands by which line of the other version made them.

const mask = (text) => text.replace(/%\d+/g, "%");
const placeOf = (line) => (line[1] ? `${line[3] || 0}:${line[1]}:${line[2]}` : "");

/**
 * Pairs [i, j] of a longest common subsequence of a[start …) and b[start …) with n and m elements, by
 * Myers' method; null if more than `most` elements are of one list only. Takes most² steps.
 */
function exactMatches(a, b, startA, startB, n, m, most) {
  // v[most + 1 + k]: how far diagonal k has come; trace has the piece that each step begins with.
  const v = new Int32Array(2 * most + 3).fill(-1), trace = [];
  const at = (list, middle, k) => list[middle + k];
  const goesDown = (list, middle, k, d) => k === -d || (k !== d && at(list, middle, k - 1) < at(list, middle, k + 1));
  v[most + 2] = 0;  // diagonal 1, from where the first step goes down
  let found = false;
  for (let d = 0; !found && d <= most; ++d) {
    trace.push(v.slice(most + 1 - d - 1, most + 1 + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = goesDown(v, most + 1, k, d) ? v[most + 1 + k + 1] : v[most + 1 + k - 1] + 1;
      while (x < n && x - k < m && a[startA + x] === b[startB + x - k]) ++x;
      v[most + 1 + k] = x;
      if (x >= n && x - k >= m) found = true;
    }
  }
  if (found) {
    let x = n, y = m;
    const middle = [];
    for (let d = trace.length - 1; d >= 0; --d) {
      const k = x - y, fromK = goesDown(trace[d], d + 1, k, d) ? k + 1 : k - 1;
      const fromX = at(trace[d], d + 1, fromK), fromY = fromX - fromK;
      while (x > fromX && y > fromY && x > 0 && y > 0) middle.push([startA + --x, startB + --y]);
      x = fromX;
      y = fromY;
    }
    return middle.reverse();
  }
  return null;
}

/** Pairs of elements that are in each list once, as many as keep the order of both. n log n. */
function anchors(a, b, startA, startB, n, m) {
  const seen = new Map();  // [times in a, where, times in b, where]
  for (let i = 0; i < n; ++i) { const s = seen.get(a[startA + i]) || [0, 0, 0, 0]; ++s[0]; s[1] = i; seen.set(a[startA + i], s); }
  for (let j = 0; j < m; ++j) { const s = seen.get(b[startB + j]); if (s) { ++s[2]; s[3] = j; } }
  const once = [...seen.values()].filter((s) => s[0] === 1 && s[2] === 1);  // rising in a
  const ends = [], from = new Int32Array(once.length);  // the longest rising sequence in b
  once.forEach((s, i) => {
    let low = 0, high = ends.length;
    while (low < high) { const mid = (low + high) >> 1; if (once[ends[mid]][3] < s[3]) low = mid + 1; else high = mid; }
    from[i] = low ? ends[low - 1] : -1;
    ends[low] = i;
  });
  const pairs = [];
  for (let i = ends.length ? ends[ends.length - 1] : -1; i >= 0; i = from[i]) pairs.push([startA + once[i][1], startB + once[i][3]]);
  return pairs.reverse();
}

/**
 * Pairs [i, j] of equal elements of two lists of strings, in the order of both: as many as there can
 * be, unless the lists are large and differ a lot.
 */
function matches(a, b) {
  const pairs = [], work = [[0, a.length, 0, b.length]];  // ranges that are still to be matched
  while (work.length) {
    let [i, endA, j, endB] = work.pop();
    while (i < endA && j < endB && a[i] === b[j]) pairs.push([i++, j++]);
    while (endA > i && endB > j && a[endA - 1] === b[endB - 1]) pairs.push([--endA, --endB]);
    const n = endA - i, m = endB - j;
    if (n === 0 || m === 0) continue;
    const few = exactMatches(a, b, i, j, n, m, Math.min(n + m, 300));
    if (few) { for (const p of few) pairs.push(p); continue; }
    const fixed = anchors(a, b, i, j, n, m);
    if (!fixed.length) { for (const p of exactMatches(a, b, i, j, n, m, Math.min(n + m, 1500)) || []) pairs.push(p); continue; }
    for (const [x, y] of fixed) { pairs.push([x, y]); work.push([i, x, j, y]); i = x + 1; j = y + 1; }
    work.push([i, endA, j, endB]);
  }
  return pairs.sort((p, q) => p[0] - q[0]);
}

/** Which values a line makes. */
function definitions(text) {
  const made = new Set();
  const [head, carried] = text.split(" with ");
  const results = /^\s*(%\d+(?:, %\d+)*) = /.exec(head);
  for (const v of results ? results[1].split(", ") : []) made.add(v);
  const index = /\bfor (%\d+) in /.exec(head);
  if (index) made.add(index[1]);
  for (const pair of carried ? carried.split(", ") : []) {
    const name = /^(%\d+) = /.exec(pair);
    if (name) made.add(name[1]);
  }
  return made;
}

/** Are two lines the same but for numbers? Learns which value became which. */
function sameLine(before, after, renamed) {
  if (mask(before) !== mask(after)) return false;
  const a = before.match(/%\d+/g) || [], b = after.match(/%\d+/g) || [];
  const made = definitions(before);
  let same = true;
  for (let i = 0; i < a.length; ++i) {
    if (made.has(a[i]) && !renamed.has(a[i])) renamed.set(a[i], b[i]);
    else if (renamed.get(a[i]) !== b[i]) same = false;
  }
  return same;
}

/** The line that changed still makes what it made. */
function learn(before, after, renamed) {
  const a = [...definitions(before)], b = [...definitions(after)];
  if (a.length === b.length) a.forEach((name, i) => renamed.set(name, b[i]));
}

/** A line of the program before with the numbers that values have after; what is gone fits nothing. */
const inNewNumbers = (text, renamed) => text.replace(/%\d+/g, (v) => renamed.get(v) ?? `%gone${v.slice(1)}`);

/**
 * Rows {kind, before, after}: kind is same, changed, removed or added; before and after are lines
 * as the listings have them, or null. A changed row has `as`, the old line in new numbers.
 */
function diffLines(before, after) {
  const key = (line) => `${mask(line[0])}@${placeOf(line)}`;
  const pairs = matches(before.map(key), after.map(key));
  const rows = [], renamed = new Map();
  const gap = (fromA, toA, fromB, toB) => {
    // Ops of one place that became others: changed, not removed and added. From the end, because
    // the last op of a place makes its value: of `mul` that became `const`, `shl`, it is the `shl`.
    const a = before.slice(fromA, toA), b = after.slice(fromB, toB);
    const near = matches(a.map(placeOf).reverse(), b.map(placeOf).reverse()).reverse()
      .map(([i, j]) => [a.length - 1 - i, b.length - 1 - j]).filter(([i]) => placeOf(a[i]) !== "");
    let i = 0, j = 0;
    for (const [x, y] of [...near, [a.length, b.length]]) {
      while (i < x) rows.push({kind: "removed", before: a[i++], after: null});
      while (j < y) rows.push({kind: "added", before: null, after: b[j++]});
      if (x < a.length && y < b.length) {
        learn(a[x][0], b[y][0], renamed);
        rows.push({kind: "changed", before: a[i++], after: b[j++], as: inNewNumbers(a[x][0], renamed)});
      }
    }
  };
  let i = 0, j = 0;
  for (const [x, y] of [...pairs, [before.length, after.length]]) {
    gap(i, x, j, y);
    if (x < before.length && y < after.length) {
      const same = sameLine(before[x][0], after[y][0], renamed);
      rows.push({kind: same ? "same" : "changed", before: before[x], after: after[y],
                 as: same ? null : inNewNumbers(before[x][0], renamed)});
    }
    i = x + 1;
    j = y + 1;
  }
  return rows;
}

/** The words of a changed row's side: [[text, does the other side lack it], …] */
function changedWords(row, side) {
  const split = (s) => s.match(/\s+|%\w+|\w+(?:\.\w+)*|[^\w\s]/g) || [];
  const before = split(row.as), after = split(row.after[0]);
  const common = new Set(matches(before, after).map((pair) => pair[side === "before" ? 0 : 1]));
  return split(row[side][0]).map((word, i) => [word, !common.has(i) && word.trim() !== ""]);
}
