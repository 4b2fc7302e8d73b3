// The code that ran beside the source: pointing at a line of one shows what became of it, or where
// it came from.

function kernelCode(code) {
  const segment = code.segments[code.at || 0];
  const files = segment.files, sources = files.filter((f) => linesOf(f));
  const status = h("p.note.readout", {role: "status"}, "Choose a line to see where it came from, or what became of it.");
  const rows = new Map();  // "file:line" to its rows
  const keyOf = (file, line) => `${file}:${line}`;
  const note = (file, line, row) => {
    const key = keyOf(file, line);
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(row);
  };
  let chosen = null;
  const choose = (file, line, from) => {
    for (const r of rows.get(chosen) || []) r.classList.remove("chosen");
    chosen = keyOf(file, line);
    const all = rows.get(chosen) || [];
    for (const r of all) r.classList.add("chosen");
    const made = all.filter((r) => r.dataset.side === "code").length;
    const name = files[file];
    status.textContent = `${name}:${line}: ${sourceText(name, line)} — ${made ? plural(made, code.is_program ? "line" : "instruction") : "nothing was made of it"}`;
    for (const side of ["source", "code"]) {
      const first = all.find((r) => r.dataset.side === side);
      if (!first || side === from) continue;
      const pane = first.closest(".pane");
      pane.scrollTop = first.offsetTop - pane.clientHeight / 3;
    }
  };
  const codeLines = h(".lines", {});
  const append = (from, to) => {
    for (const line of segment.lines.slice(from, to)) {
      const source = sourceOf(files, line), file = line[3] || 0;
      const row = h(/^\s+[^.\s]/.test(line[0]) || code.is_program ? ".row" : ".row.directive", {"data-side": "code", title: sourceTitle(source), style: source ? {"--tint": String((source.line * 47) % 360)} : {}},
        source ? h("button.at", {type: "button", "aria-label": `Line ${source.line} of ${source.name}`, onclick: () => choose(file, source.line, "code")}, source.line)
               : h("span.at", {}),
        h("span.text", {}, code.is_program ? tinted(line[0]) : line[0]));
      if (source) { row.classList.add("sourced"); note(file, source.line, row); }
      codeLines.append(row);
    }
    if (to < segment.lines.length) {
      const more = h("button.fold", {type: "button", onclick: () => { more.remove(); append(to, segment.lines.length); }}, `⋯ ${plural(segment.lines.length - to, "more line")}`);
      codeLines.append(more);
    }
  };
  append(0, shownLines);
  const sourcePane = (name) => {
    const file = files.indexOf(name);
    const wanted = new Set(segment.lines.filter((l) => l[1] && (l[3] || 0) === file).map((l) => l[1]));
    const [least, most] = [...wanted].reduce(([lo, hi], l) => [Math.min(lo, l), Math.max(hi, l)], [Infinity, 0]);
    const all = linesOf(name), lines = h(".lines", {});
    // A large file is shown from where the kernel begins to where it ends.
    const first = all.length > shownLines ? Math.max(0, least - 10) : 0;
    const last = all.length > shownLines ? Math.min(all.length, most + 10) : all.length;
    all.slice(first, last).forEach((text, i) => {
      const line = first + i + 1, has = wanted.has(line);
      const row = h(has ? ".row.sourced" : ".row", {"data-side": "source", style: has ? {"--tint": String((line * 47) % 360)} : {}},
        has ? h("button.at", {type: "button", "aria-label": `Line ${line}`, onclick: () => choose(file, line, "source")}, line) : h("span.at", {}, line),
        h("span.text", {}, text));
      if (has) note(file, line, row);
      lines.append(row);
    });
    return h(".half", {}, h(".head", {}, h("code", {}, name)), h(".pane", {tabindex: 0, role: "region", "aria-label": `Source ${name}`}, lines));
  };
  const instructions = segment.lines.filter((l) => /^\s+[^.\s]/.test(l[0])).length;
  const placed = segment.lines.filter((l) => l[1]).length;
  return [
    h(".diff.code", {}, sources.map(sourcePane),
      h(".half", {}, h(".head", {}, code.is_program ? "The program that runs" : segment.language, h("span.quiet", {}, code.is_program ? "" : ` ${plural(instructions, "instruction")}, ${count(placed)} with a source line`)),
        h(".pane", {tabindex: 0, role: "region", "aria-label": `Code of ${code.kernel}`}, codeLines))),
    status];
}

let showCodeOf = () => {};  // by the name of a kernel

const code = {
  id: "code", title: "Code", when: () => listings.code.length > 0,
  draw() {
    let kernel = hottestOf(listings.code.map((k) => k.kernel));
    const holder = h(".listing", {});
    const draw = () => {
      const c = listings.code[kernel];
      holder.replaceChildren(...[
        listings.code.length > 1 ? h("label.pick", {}, "Kernel ", h("select", {onchange: (e) => { kernel = Number(e.target.value); draw(); }},
          listings.code.map((k, i) => h("option", {value: i, selected: i === kernel}, k.kernel))), hottestNote()) : null,
        c.segments.length > 1 ? h("label.pick", {}, "Segment ", h("select", {onchange: (e) => { c.at = Number(e.target.value); draw(); }},
          c.segments.map((s, i) => h("option", {value: i, selected: i === (c.at || 0)}, `${i + 1} of ${c.segments.length}`)))) : null,
        c.is_program ? h("p.lead", {}, `The backend ${report.backend} makes no code: it runs the program itself, as it is after the passes.`) : null,
        c.segments.length ? kernelCode(c) : h("p.empty", {}, "Nothing in this kernel has an effect, so there is no code."),
      ].flat().filter((e) => e));
      // What is of interest begins below comments, tables and directives.
      requestAnimationFrame(() => {
        for (const pane of holder.querySelectorAll(".pane")) {
          const first = pane.querySelector(".sourced");
          if (first) pane.scrollTop = Math.max(0, first.offsetTop - 50);
        }
      });
    };
    draw();
    showCodeOf = (name) => {
      const wanted = listings.code.findIndex((k) => k.kernel === name);
      if (wanted < 0 || wanted === kernel) return;
      kernel = wanted;
      draw();
    };
    return holder;
  },
};
