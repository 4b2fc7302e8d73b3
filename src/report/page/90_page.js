// The page: its sections in order, the bar, the theme, the keys.

const sections = [...(report.outcome === "failed" ? [messages, overview] : [overview, messages]),
  outputs, times, graphSection, timeline, memoryMap, memory, optimizer, code];

const themes = ["auto", "light", "dark"];
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  // A page from a file may not be allowed to keep anything.
  try { localStorage.setItem("vyre-theme", theme); } catch { /* then it is for this time only */ }
}
function savedTheme() {
  try {
    const theme = localStorage.getItem("vyre-theme");
    return themes.includes(theme) ? theme : "auto";
  } catch {
    return "auto";
  }
}

function themeButton() {
  const button = h("button.theme", {type: "button"});
  const say = () => {
    const theme = document.documentElement.dataset.theme;
    button.textContent = {auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark"}[theme];
    button.setAttribute("aria-label", `Theme: ${theme}`);
  };
  button.addEventListener("click", () => {
    setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]);
    say();
  });
  say();
  return button;
}

function drawPage() {
  setTheme(savedTheme());
  const title = report.program || report.file || "run";
  document.title = `${title} · vyre run`;
  const failed = report.outcome === "failed";
  document.getElementById("bar").append(...[
    h(".brand", {}, "vyre"),
    h("h1", {}, title),
    h(`span.badge.${failed ? "failed" : "done"}`, {}, failed ? `failed, exit code ${report.exit_code}` : "done"),
    report.backend ? h("span.where", {}, `${report.backend} · ${report.device.name}`) : null,
    h("span.space"), h("span.version", {}, report.vyre), themeButton()].filter((e) => e));
  const shown = sections.filter((s) => s.when());
  const main = document.getElementById("main"), side = document.getElementById("side");
  main.replaceChildren(...shown.map((s) =>
    h("section.part", {id: s.id, "aria-labelledby": `${s.id}-title`}, h("h2", {id: `${s.id}-title`}, s.title), s.draw())));
  const links = new Map(shown.map((s) => [s.id, h("a", {href: `#${s.id}`}, s.title)]));
  side.append(h("ul", {}, [...links.values()].map((a) => h("li", {}, a))),
    h("p.keys", {}, h("kbd", {}, "j"), h("kbd", {}, "k"), " pass\n", h("kbd", {}, "n"), h("kbd", {}, "p"), " change"));
  // The section that is being read.
  const mark = () => {
    const parts = shown.map((s) => document.getElementById(s.id));
    const atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 4;
    const last = atEnd ? parts[parts.length - 1] : parts.filter((p) => p.getBoundingClientRect().top < 140).pop() || parts[0];
    for (const [id, a] of links) {
      if (id !== last.id) { a.removeAttribute("aria-current"); continue; }
      if (a.hasAttribute("aria-current")) continue;
      a.setAttribute("aria-current", "true");
      const list = a.closest("ul");  // on a narrow screen it is one row, which scrolls
      list.scrollLeft = a.offsetLeft - list.offsetLeft - list.clientWidth / 3;
    }
  };
  window.addEventListener("scroll", mark, {passive: true});
  mark();
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) return;
    if (e.key === "n" && current) current.go(1);
    else if (e.key === "p" && current) current.go(-1);
    else if (e.key === "j" && passes) passes.move(1);
    else if (e.key === "k" && passes) passes.move(-1);
    else return;
    e.preventDefault();
  });
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

drawPage();
