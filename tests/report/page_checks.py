"""Opens a report's page in chromium and checks what a person would see. Used by html_browser_test.cc:

  page_checks.py CHECK PAGE [FOLDER]     one of the functions below; pictures go to FOLDER

Prints failures to standard output and exits with 1 if there are any. Exit code 77: no chromium is installed.
"""

import json
import os
import sys

import browser

wrong = []


def expect(what, value, wanted=True):
    if value != wanted:
        wrong.append(f"{what}: {value!r}, expected {wanted!r}")


def expect_in(what, piece, text):
    if text is None or piece not in text:
        wrong.append(f"{what}: {piece!r} is not in {text!r}")


def contrast(b, selector):
    """Of the first element's text on its ground, as WCAG counts it; None if it is not there."""
    return b.js("""((selector) => {
      const e = document.querySelector(selector);
      if (!e) return null;
      const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
      let ground = [0, 0, 0, 0];
      for (let p = e; p && ground[3] === 0; p = p.parentElement) ground = parse(getComputedStyle(p).backgroundColor);
      if (ground[3] === 0) ground = [255, 255, 255, 1];
      const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const [a, c] = [luminance(parse(getComputedStyle(e).color)), luminance(ground)];
      return (Math.max(a, c) + 0.05) / (Math.min(a, c) + 0.05);
    })(%s)""" % json.dumps(selector))


def data(b):
    return b.js('JSON.parse(document.getElementById("vyre-report").textContent)')


def runs_of(b):
    """[number, pass, decision] of the list that is shown."""
    return b.js("""[...document.querySelectorAll(".run[data-run]")].map((e) =>
      [Number(e.dataset.run), e.querySelector(".pass").textContent, e.querySelector(".what").textContent])""")


def quiet(b, page):
    expect("problems of the page", b.problems, [])
    expect("what it asked for", [r for r in b.requests if not r.startswith("file://" + os.path.abspath(page))], [])


def pictures(b, folder):
    if not folder:
        return
    os.makedirs(folder, exist_ok=True)
    for width, height in ((1280, 900), (400, 860)):
        b.resize(width, height)
        for scheme in ("light", "dark"):
            b.prefer(scheme)
            for part in ("overview", "graph", "timeline", "memory-map", "optimizer", "code"):
                b.js(f'document.getElementById("{part}")?.scrollIntoView()')
                b.screenshot(os.path.join(folder, f"{part}-{scheme}-{width}.png"))
    b.js('document.querySelector(".programs")?.scrollIntoView()')
    b.screenshot(os.path.join(folder, "diff-dark-400.png"))
    b.resize(1280)
    for scheme in ("light", "dark"):
        b.prefer(scheme)
        b.js('document.querySelector(".programs")?.scrollIntoView()')
        b.screenshot(os.path.join(folder, f"diff-{scheme}-1280.png"))
    b.prefer("light")


def kernel(b, page, folder):
    """A kernel on cpu that passes change."""
    b.open(page)
    report = data(b)
    optimizer = report["optimizer"][0]
    expect_in("title", report["program"], b.js("document.title"))
    expect("sections", b.js('[...document.querySelectorAll("main > section")].map((e) => e.id)'),
           ["overview", "outputs", "times", "timeline", "memory", "optimizer", "code"])
    expect_in("overview", report["device"]["name"], b.text("#overview"))
    for stage, ns in report["stages_ns"].items():
        if ns:
            expect_in("stages", stage, b.text("#times"))
    for buffer in report["buffers"]:
        expect_in("buffers", buffer["name"], b.text("#memory"))

    # Where, when and by what it ran; the bandwidth; the first values and the picture of the output.
    for fact in (report["host"]["name"], report["host"]["system"], report["date"][:10], report["vyre"], report["commit"]):
        expect_in("overview", fact, b.text("#overview"))
    expect_in("stages", "open", b.text("#times"))
    measured = report["bandwidth"]["device_bytes_per_second"]
    expect_in("bandwidth", "of a copy on this device" if measured else "not measured: " + report["bandwidth"]["not_measured"], b.text("#overview .cards"))
    expect_in("bandwidth", "B/s", b.text("#overview .cards"))
    output = report["buffers"][-1]
    expect_in("first values", " ".join(output["values"]), b.text("#outputs table"))
    width, height = report["grid"][:2]
    expect("size of the picture", b.js('[...document.querySelectorAll("#outputs canvas")].map((e) => [e.width, e.height])'), [[width, height]])
    expect_in("name of the picture", f"Picture of {output['name']}, {width} × {height}", b.js('document.querySelector("canvas").getAttribute("aria-label")'))
    # Gray, opaque, and of the values: the first pixel is as far between black and white as the first value.
    pixel = b.js('[...document.querySelector("canvas").getContext("2d").getImageData(0, 0, 1, 1).data]')
    black, white = b.js('(({black, white}) => [black, white])(JSON.parse(document.getElementById("vyre-listings").textContent).pictures[0])')
    wanted = 255 * (float(output["values"][0]) - black) / (white - black)
    expect(f"first pixel {pixel}, {wanted}", pixel[0] == pixel[1] == pixel[2] and pixel[3] == 255 and abs(pixel[0] - wanted) <= 1)

    # Every run of a pass is in the list, and shows its decision, reason, time and counts.
    listed = runs_of(b)
    expect("runs", [name for _, name, _ in listed[1:]], [r["pass"] for r in optimizer["runs"]])
    reasons = {c["pass"]: c for c in optimizer["choices"]}
    changed = 0
    for i, run in enumerate(optimizer["runs"]):
        b.click(f'.run[data-run="{i}"]')
        shown = b.text(".details")
        what = f"run {i} of {run['pass']}"
        expect_in(what, run["pass"], shown)
        expect_in(what, reasons[run["pass"]]["detail"], shown)
        expect(what + " is selected", b.js('document.querySelector("[aria-selected=true]").dataset.run'), str(i))
        for refusal in run["refusals"]:
            expect_in(what, refusal, shown)
        expect(what + ": programs are shown", b.count(".details .diff"), int(run["decision"] == "changed"))
        for name, (before, after) in run["changes"].items():
            expect_in(what, f"{name.replace('_', ' ')}\t{before:,}\t{after:,}", shown)
        if run["decision"] == "changed":
            changed += 1
            expect(what + ": something is marked",
                   b.count(".row.changed, .row.added, .row.removed") > 0)
            # At least half of the lines are unchanged: renumbering does not count as a change.
            b.click(".details .choice button", 1)
            same, others = b.count(".half:first-child .row.same"), b.count(".row.changed, .row.added, .row.removed")
            expect(what + f": {same} lines stay, {others} are marked", same > 0)
            b.click(".details .choice button", 0)
    expect("some pass changed something", changed > 0)
    expect("not selected", b.count("#optimizer > .optimizer > .scroll tbody tr"),
           sum(not c["selected"] for c in optimizer["choices"]))

    # The filter, and the keys.
    b.click(".left .choice button", 1)
    expect("changed runs", len(runs_of(b)) - 1, changed)
    b.click(".left .choice button", 0)
    b.click('.run[data-run="-1"]')
    b.js('document.querySelector(".runs").focus()')
    b.press("ArrowDown")
    b.press("ArrowDown")
    expect("arrows", b.js('document.querySelector("[aria-selected=true]").dataset.run'), "1")
    b.press("End")
    expect("End", b.js('document.querySelector("[aria-selected=true]").dataset.run'), str(len(optimizer["runs"]) - 1))
    b.press("Home")
    b.press("j")
    b.press("j")
    b.press("k")
    expect("j and k", b.js('document.querySelector("[aria-selected=true]").dataset.run'), "0")
    first = next(i for i, r in enumerate(optimizer["runs"]) if r["decision"] == "changed")
    b.click(f'.run[data-run="{first}"]')
    b.press("n")
    expect("n goes to a change", b.count(".row.here"), 1)

    # Both sides have as many rows and scroll together.
    b.click('.run[data-run="-1"]')
    b.click(".details .choice button", 1)
    sides = b.js('[...document.querySelectorAll(".details .pane .lines")].map((e) => e.children.length)')
    expect("sides", len(sides), 2)
    expect("rows of the sides", sides[0], sides[1])
    b.js('document.querySelector(".details .pane").scrollTop = 60')
    b.js("new Promise((done) => setTimeout(done, 300))")
    tops = b.js('[...document.querySelectorAll(".details .pane")].map((e) => e.scrollTop)')
    expect("scrolled together", tops[0] == tops[1] and tops[0] > 0)
    b.click(".details .choice button", 0)

    # Code: instructions have source lines; choosing one shows the line.
    if report["backend"] == "interp":
        expect_in("code", "runs the program itself", b.text("#code"))
    else:
        expect_in("code", "assembly", b.text("#code .half:last-child .head"))
    expect("code with lines", b.count('.row[data-side="code"].sourced') > 0)
    b.click('.row[data-side="code"] button.at')
    line = b.text('.row[data-side="code"].chosen .at')
    expect("the line in the source", b.text('.row[data-side="source"].chosen .at'), line)
    source = b.text('.row[data-side="source"].chosen .text').strip()
    expect_in("what was chosen", source, b.text("#code [role=status]"))

    # Themes: the system's, then the button's.
    ground = "getComputedStyle(document.body).backgroundColor"
    light = b.js(ground)
    b.prefer("dark")
    dark = b.js(ground)
    expect("the system's theme is followed", light != dark)
    b.click("button.theme")
    expect("the button says light", b.js(ground), light)
    b.click("button.theme")
    b.prefer("light")
    expect("the button says dark", b.js(ground), dark)
    b.click("button.theme")
    b.click(f'.run[data-run="{first}"]')

    # Everything can be read in both themes, and has a name.
    for scheme in ("light", "dark"):
        b.prefer(scheme)
        for selector in ("main p", ".card .label", ".quiet, .note", ".badge.done", ".badge.changed", "thead th",
                         ".row.same .value", ".row.same .op", ".row.changed b", ".row.removed .mark", ".row.added .mark",
                         ".row.changed .mark", ".less", ".more", ".side a", ".run .what", ".run.unchanged .pass",
                         "[aria-selected=true] .pass", ".code .at"):
            ratio = contrast(b, selector)
            if ratio is not None:
                expect(f"contrast of {selector} in {scheme}, {ratio:.2f}", ratio >= 4.5)
    b.prefer("light")
    expect("buttons have names", b.js("""[...document.querySelectorAll("button, a, select, [role=region], [role=listbox]")]
      .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.labels?.length)).length"""), 0)
    expect("ids are there once", b.js("""(() => { const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
      return ids.length - new Set(ids).size; })()"""), 0)
    expect("headings", b.js('[...document.querySelectorAll("h1, h2, h3, h4")].every((e, i, all) => i === 0 || Number(e.tagName[1]) <= Number(all[i - 1].tagName[1]) + 1)'))

    # Nothing hangs over the edge, and on a narrow screen the two versions are one list.
    for width in (1280, 400):
        b.resize(width)
        b.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        expect(f"width at {width}", b.js("document.documentElement.scrollWidth"), width)
    expect("unified on a narrow screen", b.count(".details .diff.unified"), 1)
    b.resize(1280)
    pictures(b, folder)
    quiet(b, page)


def graph(b, page, folder):
    """A graph of several kernels: each has its passes and its code, and the time line has the calls."""
    b.open(page)
    report = data(b)
    kernels = [k["program"] for k in report["optimizer"]]
    expect("kernels to choose from", b.js('[...document.querySelectorAll("#optimizer select option")].map((e) => e.textContent)'), kernels)
    for i, name in enumerate(kernels):
        b.js(f"""(() => {{ const s = document.querySelector("#optimizer select"); s.value = {i};
                 s.dispatchEvent(new Event("change", {{bubbles: true}})); }})()""")
        expect("list of " + name, b.js('document.querySelector(".runs").getAttribute("aria-label")'), f"Runs of passes on {name}")
        expect("runs of " + name, len(runs_of(b)) - 1, len(report["optimizer"][i]["runs"]))
        expect_in("calls", name, b.text("#timeline table"))
    expect("code to choose from", b.js('[...document.querySelectorAll("#code select option")].map((e) => e.textContent)'), kernels)
    expect("spans of the device", b.count('[aria-label="Spans of the device"] [role=option]') > 0)
    b.js('document.querySelector(".lane").focus()')
    b.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", windowsVirtualKeyCode=39)
    expect_in("the first span", "open", b.text("#timeline .readout"))
    pictures(b, folder)
    quiet(b, page)


def planned(b, page, folder):
    """A graph whose plan joins, refuses, loops and shares memory: tests/report/graph_report_util.h."""
    b.open(page)
    report = data(b)
    graph, memory = report["graph"], report["graph"]["memory"]
    expect("sections", b.js('[...document.querySelectorAll("main > section")].map((e) => e.id)'),
           ["overview", "outputs", "times", "graph", "timeline", "memory-map", "memory", "optimizer", "code"])
    expect("launches", b.count(".launch"), len(graph["launches"]))
    for i, launch in enumerate(graph["launches"]):
        text = b.text(f'.launch[data-launch="{i}"]')
        for call in launch["calls"]:
            expect_in(f"launch {i}", f"stage {call['stage']}", text)
        for how in launch["joins"]:
            expect_in(f"launch {i}", {"same_invocation": "joined in the same invocation"}[how], text)
        for buffer in launch["elided"]:
            expect_in(f"launch {i}", f"{buffer['name']} (", text)
            expect_in(f"launch {i}", "never reaches device memory", text)
        for refusal in graph["refusals"]:
            if refusal["node"] == launch["calls"][0]["node"]:
                expect_in(f"launch {i}", refusal["why"].replace("`", ""), text)
        if launch["time"]["count"] > 1:
            expect_in(f"launch {i}", f"{launch['time']['count']} times", text)
    expect("loops", b.js('[...document.querySelectorAll(".loop")].map((e) => e.innerText)'), ["repeat launches 3 to 4, 3 iterations"])
    left = lambda i: b.js(f'document.querySelector(\'.launch[data-launch="{i}"]\').getBoundingClientRect().left')
    expect("launches in loops are indented", left(2) > left(1))
    ran = graph["executed"]
    expect("launches that ran", ran["launches"], sum(l["runs"] for l in graph["launches"]))
    expect_in("what ran", f"for {ran['calls']} calls of the graph", b.text("#graph .cards"))
    expect_in("peak with", "64.0 KiB", b.text("#graph .cards"))
    expect_in("peak without", "128.0 KiB", b.text("#graph .cards"))
    expect_in("overview", "128.0 KiB without the plan", b.text("#overview .cards"))

    # The drawing: a box for each launch and parameter, an edge for each buffer handed over, with its bytes.
    names = b.js('[...document.querySelectorAll(".drawing .node")].map((e) => e.querySelector("text").textContent)')
    expect("boxes", sorted(names), sorted([f"{i + 1} {l['kernel']}" for i, l in enumerate(graph["launches"])] + ["x", "result"]))
    edges = b.js('[...document.querySelectorAll(".drawing .edge")].map((e) => e.textContent)')
    size = "16.0 KiB"
    expect("edges", edges, [f"{n} {size}" for n in ("x", "b", "c", "d", "c", "e", "result")] + [f"c {size}, for the next iteration"])
    expect("bytes on the edges", b.js('[...document.querySelectorAll(".drawing > text")].map((e) => e.textContent)'), [e.split(",")[0] for e in edges])
    expect("boxes do not overlap", b.js("""(() => { const all = [...document.querySelectorAll(".drawing rect")].map((e) => e.getBoundingClientRect());
      return all.some((p, i) => all.some((q, j) => i < j && p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom)); })()"""), False)
    b.click("#graph details summary")
    table = b.text("#graph details table")
    expect_in("edges as a table", f"x\t1 spread_twice\tx {size}", table)
    expect_in("edges as a table", f"4 spread\t3 spread\tc {size}\tfor the next iteration", table)
    b.click('.drawing .node[data-launch="1"]')
    expect("a box chooses its launch", b.js('[...document.querySelectorAll(".launch.chosen, .drawing .chosen")].map((e) => e.dataset.launch)'), ["1", "1"])

    # Passes and code open at the kernel with the most device time.
    time = {}
    for launch in graph["launches"]:
        time[launch["kernel"]] = time.get(launch["kernel"], 0) + launch["time"]["total_ns"]
    hottest = max(time, key=time.get)
    b.open(page)
    expect("passes of the hottest kernel", b.js('document.querySelector(".runs").getAttribute("aria-label")'), f"Runs of passes on {hottest}")
    expect("code of the hottest kernel", b.js('document.querySelector("#code select").selectedOptions[0].textContent'), hottest)
    expect_in("why", f"most device time: {hottest}", b.text("#optimizer"))

    # A launch that is chosen is so everywhere.
    kernels = [k["program"] for k in report["optimizer"]]
    for i in (5, 2):
        b.click(f'.launch[data-launch="{i}"] .number')
        kernel = graph["launches"][i]["kernel"]
        expect("chosen", b.js('[...document.querySelectorAll(".launch.chosen, .drawing .chosen")].map((e) => e.dataset.launch)'), [str(i), str(i)])
        expect("passes of the launch", b.js('document.querySelector(".runs").getAttribute("aria-label")'), f"Runs of passes on {kernel}")
        expect("code of the launch", b.js('document.querySelector("#code select").selectedOptions[0].textContent'), kernel)
        expect("column in the map", b.js(f"""[...document.querySelectorAll(".field")].map((f) => {{
          const c = f.querySelector(".column"), r = c.getBoundingClientRect(), all = f.getBoundingClientRect();
          return !c.hidden && Math.round(((r.left - all.left) / all.width) * {len(graph["launches"])});
        }})"""), [i, i])
    b.click('.launch[data-launch="0"] .links a', 1)
    expect("a link goes to the code", b.js("location.hash"), "#code")
    expect("of its kernel", b.js('document.querySelector("#code select").selectedOptions[0].textContent'), graph["launches"][0]["kernel"])
    expect("kernels", set(l["kernel"] for l in graph["launches"]) <= set(kernels))

    # The time line says which stages a launch is.
    table = b.text("#timeline table")
    expect_in("time line", "1, stages 1 spread, 2 twice", table)
    expect_in("time line", "6, stages 7 spread, 8 add", table)
    expect("launches on the time line", b.js("""[...document.querySelectorAll('[aria-label="Spans of the device"] [role=option]')]
      .some((e) => e.getAttribute("aria-label").includes("launch 1, stages 1 spread, 2 twice"))"""))

    # The map: pieces are where the plan has them, and as large.
    boxes = b.js("""[...document.querySelectorAll(".field")].map((f) => {
      const all = f.getBoundingClientRect(), h = f.clientHeight, w = f.clientWidth;
      return [...f.querySelectorAll(".piece")].map((e) => [Number(e.dataset.buffer), e.offsetLeft / w,
        (e.offsetLeft + e.offsetWidth) / w, (h - e.offsetTop - e.offsetHeight) / h, (h - e.offsetTop) / h]); })""")
    n, top = len(graph["launches"]), 6 * 16384
    near = lambda got, wanted: all(abs(g - w) < 0.01 for g, w in zip(got, wanted))
    expect("pieces with the plan", len(boxes[0]), sum(len(p["live"]) for p in memory["placement"]))
    expect("pieces without", len(boxes[1]), len(boxes[0]) + len(memory["gone"]))
    for place in memory["placement"]:
        wanted = [[place["buffer"], first / n, (last + 1) / n, place["offset"] / top, (place["offset"] + place["allocated"]) / top]
                  for first, last in place["live"]]
        got = [box for box in boxes[0] if box[0] == place["buffer"]]
        expect(f"{place['name']} is where it is", len(got) == len(wanted) and all(map(near, got, wanted)))
    bottoms = sorted(box[3] for box in boxes[1])
    expect("without the plan they are stacked", near(bottoms, [i / 6 for i in range(6)]))
    expect("peaks", b.js('[...document.querySelectorAll(".level")].map((e) => e.innerText)'), ["32.0 KiB", "96.0 KiB without", "96.0 KiB"])
    for name, where in (("a", "never in memory\t1"), ("c", "shared, at 16,384\t2–5"), ("e", "shared, at 0\t5–6")):
        expect_in("table", f"{name}\t16.0 KiB\t{where}", b.text("#memory-map table"))
    b.click("#memory-map summary")
    expect_in("by launch", "6 spread_add\t16.0 KiB\t16.0 KiB\t96.0 KiB", b.text(".bylaunch table"))
    expect("both fit one scale", b.count("#memory-map .choice"), 0)
    b.js('document.querySelector(".field").focus()')
    b.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", windowsVirtualKeyCode=39)
    expect_in("the first piece", "b: 16.0 KiB, slot 0 at 0, needed in launches 1–2", b.text("#memory-map .readout"))
    expect("it is marked in both", b.count(".piece.same"), 2)

    for scheme in ("light", "dark"):
        b.prefer(scheme)
        for selector in (".launch .quiet", ".launch .gain", ".launch .refusal", ".launch.chosen .gain", ".launch.chosen .join", ".launch a",
                         "#memory-map .note", ".level span", ".launchticks span", ".bylaunch summary", '.number[aria-pressed="true"]'):
            value = contrast(b, selector)
            expect(f"contrast of {selector}, {scheme}: {value}", value is not None and value >= 4.5)
    for width in (1280, 400):
        b.resize(width)
        b.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        expect(f"width at {width}", b.js("document.documentElement.scrollWidth"), width)
    b.resize(1280)
    b.prefer("light")
    pictures(b, folder)
    quiet(b, page)


def handoff(b, page, folder):
    """Two stages fused through shared memory: the remaining memory is so small that it has its own scale."""
    b.open(page)
    memory = data(b)["graph"]["memory"]
    expect_in("how they are joined", "joined through a tile in shared memory", b.text('.launch[data-launch="1"]'))
    expect_in("what is gone", "bytes", b.text('.launch[data-launch="1"] .gain'))
    expect("striped without the plan", b.js('[...document.querySelectorAll(".piece.gone")].map((e) => e.innerText)'), ["bytes"])
    height = lambda: b.js('document.querySelector(".piece").offsetHeight / document.querySelector(".field").clientHeight')
    expect("little of the same scale", height() < 0.1)
    b.click('.launch[data-launch="1"] .number')
    b.click("#memory-map .choice button", 1)
    expect("all of its own", height() > 0.95)
    expect("the launch is still marked", b.js('[...document.querySelectorAll(".column")].every((e) => !e.hidden && e.offsetLeft > 0)'))
    expect("no line outside", b.count(".maps figure:first-child .level"), 1)
    expect("gone", [g["name"] for g in memory["gone"]], ["bytes"])
    pictures(b, folder)
    quiet(b, page)


def calls(b, page, folder):
    """A loop of thousands of calls: few spans, which say what is in them."""
    b.open(page)
    graph = data(b)["graph"]
    expect("calls", graph["ran"] > 3000)
    labels = lambda: b.js("""[...document.querySelectorAll('[aria-label="Spans of the device"] [role=option]')].map((e) => e.getAttribute("aria-label"))""")
    spans = labels()
    expect(f"spans: {len(spans)}", len(spans) < 1000)
    times = sum(int(w.replace(",", "")) for s in spans for w, unit in zip(s.split(), s.split()[1:]) if unit.startswith("time"))
    expect(f"calls in spans: {times}", times > 2000)
    b.click("#timeline .choice button", b.count("#timeline .choice button") - 1)
    # By their labels: a machine that stutters makes one call so long that the others have no room for text.
    expect("the launches by themselves", any("spread" in s and "time" in s for s in labels()))
    expect("stages of both kernels", any("stages" in s or "stage" in s for s in spans))
    pictures(b, folder)
    quiet(b, page)


def failed(b, page, folder):
    """A run that trapped has its error with carets and notes, and what was known until then."""
    b.open(page)
    report = data(b)
    expect_in("bar", "failed", b.text("#bar"))
    expect("errors come first", b.js('document.querySelector("main > section").id'), "messages")
    expect("nothing that is not there", "null" in b.text("body") or "undefined" in b.text("body"), False)
    expect("errors", b.count(".message"), len(report["diagnostics"]))
    shown = b.text("#messages")
    for d in report["diagnostics"]:
        for text in [d["message"], d["fix"]] + [n["message"] for n in d["notes"]]:
            expect_in("error", text.replace("`", ""), shown)
        expect_in("error", f"vyre explain {d['code']}", shown)
    expect("source lines", b.js('[...document.querySelectorAll(".source")].map((e) => e.textContent)'), [
        "2 |     assert(i < 2, 9) // </script>\n  |     ^^^^^^",
        "6 |   y[global_id.x] = helper(global_id.x)\n  |                    ------"])
    expect("places", b.js('[...document.querySelectorAll(".place > code")].map((e) => e.textContent)'), ["k.vyre:2:2", "k.vyre:6:20"])
    expect("no times of a run that was not", b.count("#memory"), 0)
    for scheme in ("light", "dark"):
        b.prefer(scheme)
        for selector in (".message .said", ".message .caret", ".message .noted .caret", ".source .at", ".place > code"):
            value = contrast(b, selector)
            expect(f"contrast of {selector}, {scheme}: {value}", value is not None and value >= 4.5)
    for width in (1280, 400):
        b.resize(width)
        b.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        expect(f"width at {width}", b.js("document.documentElement.scrollWidth"), width)
    pictures(b, folder)
    quiet(b, page)


def refused(b, page, folder):
    """A program with errors, none of which has been opened as a device: the page shows them all."""
    b.open(page)
    report = data(b)
    expect("errors", b.count(".message.error"), len(report["diagnostics"]))
    expect("carets", b.count(".message > .place .caret"), len(report["diagnostics"]))
    expect("nothing that is not there", "null" in b.text("body") or "undefined" in b.text("body"), False)
    expect("direction marks are escapes", "\u202e" in b.text("body"), False)
    expect_in("direction marks are escapes", "\\u{202e}", b.text("#messages"))
    expect("no markup of the source", b.count("#messages b, #messages script"), 0)
    quiet(b, page)


def absent(b, page, folder):
    """A backend that does not exist: the report has neither a source location nor a device."""
    b.open(page)
    report = data(b)
    expect_in("error", report["diagnostics"][0]["message"].replace("`", ""), b.text("#messages"))
    expect("no place", b.count(".place"), 0)
    for note in report["diagnostics"][0]["notes"]:
        expect_in("note", note["message"].replace("`", ""), b.text("#messages"))
    expect("nothing that is not there", "null" in b.text("body") or "undefined" in b.text("body"), False)
    quiet(b, page)


def many(b, page, folder):
    """More launches than are drawn."""
    b.open(page)
    expect("launches", b.count(".launch"), 61)
    expect("drawing", b.count(".drawing"), 0)
    expect_in("why", "Graphs of up to 60 launches are drawn; this one has 61.", b.text("#graph"))
    quiet(b, page)


def hostile(b, page, folder):
    """Names that would like to be markup are shown as they are."""
    b.open(page)
    report = data(b)
    b.click('.run[data-run="0"]')
    b.click('.run[data-run="-1"]')
    b.click(".details .choice button", 1)
    expect("pictures that nobody made", b.count("img, iframe, object, embed, link, svg script"), 0)
    expect("scripts", b.count("script"), 3)
    expect("handlers", b.js("""[...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length"""), 0)
    expect("nothing ran", b.js("window.hostile ?? null"), None)
    bad = "</script><img src=x onerror=hostile=1>"
    expect_in("op_id", bad, b.text("#optimizer"))
    expect_in("region in the program", bad, b.text(".details .diff"))
    expect_in("region in the source", bad, b.text("#code"))
    expect_in("file", "<!--<script>", b.text("#overview"))
    expect_in("file", "<!--<script>", report["file"])
    # The policy of the page holds, too: were something to get in, it would not run.
    b.js("""document.body.insertAdjacentHTML("beforeend", "<img src='data:,' onerror='window.hostile = 1'>")""")
    b.js("new Promise((done) => setTimeout(done, 200))")
    expect("nothing runs that got in", b.js("window.hostile ?? null"), None)
    expect("the policy says so", any("Content Security Policy" in p for p in b.problems))
    pictures(b, folder)


def diff(b, page, folder):
    """The comparison of two programs, without a page. PAGE is page/20_diff.js."""
    with open(page) as f:
        script = f.read()

    def js(body):
        return b.js("(() => {" + script + body + "})()")

    expect("longest common subsequences", js("""
      let seed = 1, bad = 0;
      const random = (n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
      const longest = (a, b) => {
        const t = [...Array(a.length + 1)].map(() => new Array(b.length + 1).fill(0));
        for (let i = 1; i <= a.length; ++i) for (let j = 1; j <= b.length; ++j)
          t[i][j] = a[i - 1] === b[j - 1] ? t[i - 1][j - 1] + 1 : Math.max(t[i - 1][j], t[i][j - 1]);
        return t[a.length][b.length];
      };
      for (let n = 0; n < 3000; ++n) {
        const list = () => [...Array(random(12))].map(() => "abcd"[random(4)]), a = list(), b = list(), p = matches(a, b);
        const rises = p.every(([i, j], k) => a[i] === b[j] && (k === 0 || (i > p[k - 1][0] && j > p[k - 1][1])));
        if (!rises || p.length !== longest(a, b)) ++bad;
      }
      return bad;"""), 0)

    def kinds(before, after):
        lines = lambda rows: json.dumps([[text, line, 1] for text, line in rows])
        return js(f"return diffLines({lines(before)}, {lines(after)}).map((r) => r.kind)")

    one = [("%0 = const 1 : u32", 1), ("%1 = const 2 : u32", 2), ("%2 = add %0, %1 : u32", 3), ("store y[%0], %2", 4)]
    expect("the same", kinds(one, one), ["same"] * 4)
    expect("renumbered only", kinds([("%0 = const 9 : u32", 9)] + [(t.replace("%2", "%3").replace("%1", "%2").replace("%0", "%1"), l) for t, l in one], one),
           ["removed"] + ["same"] * 4)
    expect("ops that look the same are told apart by their place", kinds([("%0 = const 1 : u32", 1), ("%1 = const 1 : u32", 2)], [("%0 = const 1 : u32", 2)]),
           ["removed", "same"])
    expect("swapped operands", kinds(one, one[:2] + [("%2 = add %1, %0 : u32", 3)] + one[3:]), ["same", "same", "changed", "same"])
    expect("another op of the same place", kinds(one, one[:2] + [("%2 = sub %0, %1 : u32", 3)] + one[3:]), ["same", "same", "changed", "same"])
    expect("an op that became two, the last of which makes its value", kinds(one, one[:2] + [("%2 = const 4 : u32", 3), ("%3 = shl %0, %2 : u32", 3), ("store y[%0], %3", 4)]),
           ["same", "same", "added", "changed", "same"])
    expect("an operand that is made elsewhere", kinds(one, [one[0], ("%1 = const 3 : u32", 7)] + one[2:]),
           ["same", "removed", "added", "changed", "same"])
    loop = [("%0 = const 0 : u32", 1), ("%1, %2 = for %3 in %0..%0 step %0 with %4 = %0, %5 = %0 : u32, u32 {", 2), ("%6 = add %4, %5 : u32", 3),
            ("yield %6, %4", 3), ("}", 2), ("store y[%1], %2", 4)]
    expect("a loop, renumbered", kinds([("%9 = const 7 : u32", 9)] + loop, loop), ["removed"] + ["same"] * 6)
    expect("a loop that carries others", kinds(loop, loop[:3] + [("yield %4, %6", 3)] + loop[4:]), ["same"] * 3 + ["changed"] + ["same"] * 2)
    expect("large programs that differ in many places", js("""
      const a = [...Array(20000)].map((_, i) => "a" + i), b = a.map((x, i) => (i % 5 ? x : "b" + i));
      return matches(a, b).filter(([i, j]) => a[i] === b[j]).length;"""), 16000)
    expect("large programs take no longer than a person waits", js("""
      const a = [...Array(20000)].map((_, i) => "a" + i), b = a.map((_, i) => "b" + i), begin = performance.now();
      matches(a, b);
      return performance.now() - begin < 20000;"""))


def main():
    check, page = sys.argv[1:3]
    folder = sys.argv[3] if len(sys.argv) > 3 else ""
    if not browser.find_chromium():
        return 77
    with browser.Browser() as b:
        {"kernel": kernel, "graph": graph, "planned": planned, "handoff": handoff, "calls": calls, "failed": failed, "refused": refused, "absent": absent, "many": many, "hostile": hostile, "diff": diff}[check](b, page, folder)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
