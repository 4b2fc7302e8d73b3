// For each kernel its passes: what was decided and why, what it cost and changed, and the program
// before and after.

const decisions = {
  changed: ["changed", "It changed the program."],
  unchanged: ["no change", "It looked at the program and found nothing to change."],
  nothing_to_do: ["nothing to do", "There is nothing of its kind in the program."],
  refused: ["refused", "It could have done something, and did not, because it could not prove that the meaning stays."],
  not_dirty: ["skipped", "The program is as it was when this pass last ran."],
};
const wide = window.matchMedia("(min-width: 900px)");
const look = {kernel: hottestOf(report.optimizer.map((k) => k.program)), run: -1, only: false, view: null, whole: false};
let current = null;  // the diff that is shown

/** The program before a run is what the last run before it left that changed something. */
function versionsOf(kernel, run) {
  const texts = listings.passes[kernel], runs = report.optimizer[kernel].runs;
  if (!texts || !texts.before) return [null, null];
  const upTo = run < 0 ? runs.length : run;
  let before = texts.before, last = texts.before;
  for (let i = 0; i < upTo; ++i) if (runs[i].decision === "changed") last = texts.after[i];
  if (run < 0) return [before, last];
  before = last;
  return [before, runs[run].decision === "changed" ? texts.after[run] : before];
}

function costTable(before, after) {
  const all = Object.keys(before).map((name) => ({name, was: before[name], is: after[name]}));
  const rows = all.filter((r) => r.was !== r.is), same = all.filter((r) => r.was === r.is);
  const rest = same.length ? h("p.note.counts", {}, `${rows.length ? "The same: " : "All counts are the same: "}${same.map((r) => `${words(r.name)} ${count(r.is)}`).join(", ")}.`) : null;
  return rows.length === 0 ? rest : [table([
    {title: "Count", cell: (r) => words(r.name)},
    {title: "Before", number: true, cell: (r) => count(r.was)},
    {title: "After", number: true, cell: (r) => count(r.is)},
    {title: "Change", number: true, cell: (r) => {
      const d = r.is - r.was;
      return h(d < 0 ? "span.less" : "span.more", {}, `${d < 0 ? "−" : "+"}${count(Math.abs(d))}`);
    }},
  ], rows, "Counts before and after"), rest];
}

function lists(title, items) {
  return items.length ? [h("h4", {}, title), h("ul.plain", {}, items.map((i) => h("li", {}, h("code", {}, i))))] : [];
}

/** What changed among effects. */
function effectsOf(run) {
  const before = new Set(run.effects.before), after = new Set(run.effects.after);
  return [...[...before].filter((e) => !after.has(e)).map((e) => `− ${e}`), ...[...after].filter((e) => !before.has(e)).map((e) => `+ ${e}`)];
}

function programs(kernel, run) {
  const [before, after] = versionsOf(kernel, run);
  if (!before || !after) return h("p.empty", {}, "The program at this point was not kept: there are too many lines of it.");
  const view = look.view || (wide.matches ? "split" : "unified");
  const holder = h(".programs", {});
  const draw = () => {
    current = diffView(before, after, {view: look.view || view, whole: look.whole});
    const t = current.tally;
    const say = before === after || t.changed + t.removed + t.added === 0
      ? [h("span.quiet", {}, "no line differs")]
      : [h("span.tally.changed", {}, `~ ${count(t.changed)} changed`), h("span.tally.removed", {}, `− ${count(t.removed)} removed`), h("span.tally.added", {}, `+ ${count(t.added)} added`)];
    holder.replaceChildren(
      h(".tools", {},
        h(".tallies", {role: "status"}, say),
        h("button", {type: "button", title: "Previous change (p)", "aria-label": "Previous change", onclick: () => current.go(-1)}, "↑"),
        h("button", {type: "button", title: "Next change (n)", "aria-label": "Next change", onclick: () => current.go(1)}, "↓"),
        choice("Lines", [[false, "Changes"], [true, "All lines"]], look.whole, (v) => { look.whole = v; draw(); }),
        choice("View", [["split", "Side by side"], ["unified", "Unified"]], look.view || view, (v) => { look.view = v; draw(); })),
      current.box);
  };
  draw();
  return holder;
}

function details(kernel, run) {
  const o = report.optimizer[kernel];
  if (run < 0) {
    const changed = o.runs.filter((r) => r.decision === "changed");
    return [
      h("h3", {id: "pass-title"}, "All passes"),
      h("p", {}, `${plural(o.iterations, "iteration")} over the passes in ${duration(o.ns)}; ${plural(changed.length, "run")} of a pass changed the program.`,
        o.settled ? " The last iteration changed nothing." : " It stopped before nothing changed any more."),
      costTable(o.before, o.after), h("h4", {}, "The program as it was given, and as it runs"), programs(kernel, run)];
  }
  const r = o.runs[run], chosen = o.choices.find((c) => c.pass === r.pass), [label, sentence] = decisions[r.decision];
  const ran = r.decision !== "not_dirty";
  return [
    h("h3", {id: "pass-title"}, h("code", {}, r.pass), " ", h(`span.badge.${r.decision}`, {}, label)),
    h("dl.facts", {},
      fact("Decision", sentence, true),
      chosen ? fact("Why it ran", [h("strong", {}, words(chosen.reason)), `: ${chosen.detail}`], true) : null,
      fact("Iteration", count(r.iteration)),
      ran ? fact("Time", duration(r.ns)) : null,
      ran ? fact("Facts", `${count(r.facts.reused)} reused, ${count(r.facts.recomputed)} made, ${count(r.facts.invalidated)} made stale`) : null),
    r.refused ? [h("h4", {}, `Refused in ${plural(r.refused, "place")}`), h("ul.plain", {}, r.refusals.map((text) => h("li", {}, h("code", {}, text)))),
      r.refused > r.refusals.length ? h("p.note", {}, `The first ${count(r.refusals.length)} are shown.`) : null] : null,
    r.decision === "changed" ? [costTable(r.before, r.after), lists("Effects", effectsOf(r)),
      h("h4", {}, "The program before and after"), programs(kernel, run)] : null,
  ];
}

/** The list of runs: arrows, Home and End move; what is selected is shown. */
function passList(kernel, show) {
  const o = report.optimizer[kernel];
  const box = h(".runs", {role: "listbox", "aria-label": `Runs of passes on ${o.program}`, tabindex: 0});
  const option = (run, label, note, kind) => h(`.run.${kind}`, {
    role: "option", id: `run-${kernel}-${run}`, "data-run": run, "aria-selected": String(run === look.run),
    onclick: () => select(run)}, h("span.dot", {"aria-hidden": "true"}), h("span.pass", {}, label), h("span.what", {}, note));
  const select = (run) => {
    look.run = run;
    for (const e of box.querySelectorAll("[role=option]")) e.setAttribute("aria-selected", String(Number(e.dataset.run) === run));
    const chosen = box.querySelector(`[data-run="${run}"]`);
    box.setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({block: "nearest"});
    show(run);
  };
  const fill = () => {
    const groups = [option(-1, "All passes", duration(o.ns), "all")];
    for (let iteration = 1; iteration <= o.iterations; ++iteration) {
      const runs = o.runs.map((r, i) => [r, i]).filter(([r]) => r.iteration === iteration && (!look.only || r.decision === "changed"));
      if (!runs.length) continue;
      groups.push(h(".group", {role: "group", "aria-label": `Iteration ${iteration}`}, h(".title", {"aria-hidden": "true"}, `Iteration ${iteration}`),
        runs.map(([r, i]) => option(i, r.pass, decisions[r.decision][0], r.decision))));
    }
    box.replaceChildren(...groups);
    if (!box.querySelector(`[data-run="${look.run}"]`)) look.run = -1;
    box.setAttribute("aria-activedescendant", `run-${kernel}-${look.run}`);
  };
  const move = (step) => {
    const all = [...box.querySelectorAll("[role=option]")].map((e) => Number(e.dataset.run)), at = all.indexOf(look.run);
    select(all[Math.min(all.length - 1, Math.max(0, step === "first" ? 0 : step === "last" ? all.length - 1 : at + step))]);
  };
  box.addEventListener("keydown", (e) => {
    const step = {ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, Home: "first", End: "last"}[e.key];
    if (step === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    e.stopPropagation();
    move(step);
  });
  fill();
  return {box, fill, move, select};
}

let passes = null;  // the list that is shown, for keys
let showPassesOf = () => {};  // by the name of a kernel

const optimizer = {
  id: "optimizer", title: "Optimizer", when: () => report.optimizer.some((k) => k.choices.length > 0 || k.runs.length > 0),
  draw() {
    const holder = h(".optimizer", {});
    const draw = () => {
      const o = report.optimizer[look.kernel], panel = h("section.details", {role: "region", "aria-labelledby": "pass-title"});
      const show = (run) => panel.replaceChildren(...[details(look.kernel, run)].flat(Infinity).filter((c) => c));
      const list = passList(look.kernel, show);
      passes = list;
      const skipped = o.choices.filter((c) => !c.selected);
      holder.replaceChildren(...[
        report.optimizer.length > 1 ? h("label.pick", {}, "Kernel ", h("select", {onchange: (e) => { look.kernel = Number(e.target.value); look.run = -1; draw(); }},
          report.optimizer.map((k, i) => h("option", {value: i, selected: i === look.kernel}, k.program))), hottestNote()) : null,
        h("p.lead", {}, "Profile ", h("strong", {}, o.profile || "none"), o.op_id ? [", op_id ", h("code", {}, o.op_id)] : null, "."),
        o.runs.length ? h(".panes", {},
          h(".left", {}, choice("Runs", [[false, "All runs"], [true, "Changed"]], look.only, (v) => { look.only = v; list.fill(); show(look.run); }), list.box),
          panel) : h("p.empty", {}, "No pass ran on this kernel."),
        skipped.length ? [h("h3", {}, "Passes that were not selected"), table([
          {title: "Pass", cell: (c) => h("code", {}, c.pass)},
          {title: "Reason", cell: (c) => words(c.reason)},
          {title: "", cell: (c) => c.detail},
        ], skipped, "Passes that were not selected")] : null,
      ].flat().filter((c) => c));
      if (o.runs.length) show(look.run);
    };
    draw();
    showPassesOf = (name) => {
      const kernel = report.optimizer.findIndex((k) => k.program === name);
      if (kernel < 0 || kernel === look.kernel) return;
      look.kernel = kernel;
      look.run = -1;
      draw();
    };
    wide.addEventListener("change", () => { if (!look.view) draw(); });
    return holder;
  },
};
