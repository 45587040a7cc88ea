// The page: reads the document, makes the tabs, and fills the view of the tab that is asked for.

const tabs = [["overview", "Overview", viewOverview], ["code", "Code", (k, d) => viewCode(d)],
  ["layouts", "Layouts", viewLayouts], ["memory", "Memory", viewMemory],
  ["schedule", "Schedule", viewSchedule], ["model", "Model", viewModel],
  ["passes", "Passes", viewPasses]];

const page = { data: null, kernel: null, sections: new Map() };

function figure(label, value, more) {
  return el("div", { class: "card figure" }, el("div", { class: "label" }, label),
    el("div", { class: "value" }, value), el("div", { class: "more" }, more || ""));
}

function viewOverview(kernel, data) {
  const estimate = kernel.estimate, compiled = kernel.compiled;
  const figures = el("div", { class: "cards" });
  if (estimate.valid) {
    figures.append(figure("estimated time", milliseconds(estimate.ms),
      "bound by " + estimate.bound));
    figures.append(figure("of the roofline", (100 * estimate.roofline_ms / estimate.ms).toFixed(0) +
      "%", "which is " + milliseconds(estimate.roofline_ms)));
    figures.append(figure("programs", estimate.programs.toLocaleString("en"),
      `${estimate.waves.toFixed(2)} waves, ${(100 * estimate.idle).toFixed(0)}% idle in the last`));
  }
  if (compiled && data.target !== "cpu") {
    figures.append(figure("registers of a thread", compiled.registers !== undefined ?
      compiled.registers : "≈ " + estimate.registers, compiled.registers === undefined ?
      "by the model: no assembler" : compiled.spill_bytes ?
        `${compiled.spill_bytes} bytes spilled` : "nothing spilled"));
    figures.append(figure("shared memory", bytes(compiled.shared_bytes),
      kernel.shared_memory ? "of " + bytes(kernel.shared_memory.limit) + " for a block" : ""));
    if (compiled.occupancy)
      figures.append(figure("occupancy", compiled.occupancy.percent + "%",
        `${compiled.occupancy.blocks} ${compiled.occupancy.blocks === 1 ? "block" : "blocks"} of ` +
        `${compiled.threads} threads, by ${compiled.occupancy.bound}`));
  }
  const settings = el("div", { class: "chips" }, kernel.settings.map(each =>
    el("span", { class: "chip" }, `${each.name} = ${each.value} `, el("small", {}, each.source))));
  const parts = compiled ? [compiled.wgmma ? "products by wgmma" : compiled.mma ?
    "products by mma.sync" : "no tensor cores", compiled.tma_loads ? "loads by TMA" :
    compiled.async_loads ? "loads by cp.async" :
    "loads by threads", compiled.tma_stores ? "stores by TMA" : "stores by threads"] : [];
  const right = [card("Settings", null, settings),
    parts.length && data.target !== "cpu" ? card("Instructions", null,
      el("div", { class: "chips" }, parts.map(part => el("span", { class: "chip" }, part)))) : null,
    kernel.costs.length ? card("Costs", null, el("ul", { class: "plain" }, kernel.costs.map(each =>
      el("li", {}, el("b", { class: "warn" }, each.name + " "), each.message)))) : null,
    card("Remarks", null, kernel.remarks.length ? remarksOf(kernel) :
      el("p", { class: "note" },
        "none: nothing kept the code from being faster, that a pass knows"))];
  const left = data.device && estimate.valid ? [card("Roofline",
    "The cost model's estimate beside " +
    "what the machine can do: the roof that is nearest above the point bounds the kernel.",
    drawRoofline(data, estimate)),
  compiled && compiled.occupancy ? card("A multiprocessor", "What each block takes of it.",
    drawOccupancy(data, kernel)) : null] :
    [card("Estimate", null, el("p", { class: "note" }, estimate.reason || "none for this target"))];
  return [figures, el("div", { class: "two", style: "align-items:start" }, el("div", {}, left),
    el("div", {}, right))];
}

function remarksOf(kernel) {
  return el("ul", { class: "plain" }, kernel.remarks.map(each => el("li", {},
    el("code", {}, each.code + " "), each.line ? [lineLink(each.line), ": "] : null,
      each.message)));
}

function viewMemory(kernel) {
  const memory = kernel.shared_memory;
  if (!memory || !memory.items.length)
    return [card("Shared memory", "This kernel uses none.")];
  return [card("Shared memory", `A block uses ${bytes(memory.bytes || 0)} of ` +
    `${bytes(memory.limit)} (the dashed line). What never lives at the same time shares bytes.`,
    el("div", { class: "scroll" }, drawMemory(memory))),
  card("Who holds what", null, el("table", {},
    el("tr", {}, ["what", "operation", "from byte", "bytes",
    "line"].map((title, i) => el("th", { class: i === 2 || i === 3 ? "number" : "" }, title))),
    memory.items.map(item => el("tr", {},
      el("td", {}, item.name), el("td", { class: "mono" }, item.op),
      el("td", { class: "number" }, String(item.offset)),
      el("td", { class: "number" }, item.bytes.toLocaleString("en")),
      el("td", {}, lineLink(item.line) || "–")))))];
}

function viewSchedule(kernel) {
  const timeline = kernel.timeline;
  if (!timeline || !timeline.bars.length)
    return [card("Schedule", "Nothing was compiled for a GPU, so that there is no schedule.")];
  const ofKind = (...kinds) => unionOf(timeline.bars.filter(bar => kinds.includes(bar.kind) &&
    !timeline.rows[bar.row].includes("slot")));
  const copies = ofKind("copy"), products = unionOf(timeline.bars.filter(bar =>
    timeline.rows[bar.row] === "tensor cores"));
  const work = ofKind("product", "arithmetic", "reduction");
  const percent = (part, whole) => whole ? (100 * part / whole).toFixed(0) + "%" : "–";
  return [el("div", { class: "cards" },
    figure("played", (timeline.end / 1000).toFixed(2) + " µs",
      `${timeline.trips} trips of each innermost loop`),
    figure("tensor cores busy", percent(lengthOf(products), timeline.end), "of that time"),
    figure("copies behind work", percent(overlapOf(copies, work), lengthOf(copies)),
      "of the copying runs while something computes")),
  card("Schedule of a block", "One block alone on its multiprocessor, played at the rates of the " +
    "cost model: it shows what overlaps and who waits for whom, and is no measurement. Numbers " +
    "are trips. A click goes to the line.", el("div", { class: "scroll" }, drawTimeline(timeline)),
    legend([["copies", "var(--copy)"], ["products", "var(--product)"],
      ["arithmetic", "var(--arithmetic)"], ["reductions", "var(--reduction)"],
      ["stores", "var(--access)"], ["waits", "var(--wait)"], ["slot is full", "var(--hold)"]])),
  ...(kernel.schedules || []).length ? [card("Schedules of loops", "What was decided for loops " +
    "with products, which are numbered as a trip issues them.", el("ul", { class: "plain" },
    kernel.schedules.map(each => el("li", {}, lineLink(each.line), ": ", each.schedule))))] : []];
}

function viewModel(kernel) {
  const usable = kernel.candidates.filter(each => each.ms !== undefined);
  const refused = kernel.candidates.filter(each => each.ms === undefined);
  const reasons = new Map();
  for (const each of refused) {
    const reason = each.reason.replace(/\d+/g, "N");
    if (!reasons.has(reason)) reasons.set(reason, []);
    reasons.get(reason).push(each);
  }
  const nameOf = each => Object.entries(each.config).map(([name, value]) => `${name}=${value}`)
    .join(", ");
  if (!kernel.candidates.length)
    return [card("Candidates", "The model was not asked: the call or the source set all names.")];
  return [card(`The best of ${usable.length} candidates`, "Times by the cost model " +
    "(docs/CostModel.md); the first was taken.", usable.length ? drawCandidates(kernel) : null),
  card(`${refused.length} cannot be used`, null, el("table", {}, [...reasons.values()].map(group =>
    el("tr", {}, el("td", { class: "number" }, group.length + " ×"), el("td", {}, group[0].reason),
      el("td", { class: "mono" }, nameOf(group[0]))))))];
}

function viewPasses(kernel, data) {
  const changed = data.passes.filter(each => each.changed);
  const rows = data.passes.map(each => el("tr", { style: each.changed ? "" : "opacity:.5" },
    el("td", { class: "still" }, each.stage), el("td", { class: "mono still" }, each.pass),
    el("td", {}, each.changed ? el("div", { class: "chips" },
      Object.entries(each.difference).length ?
      Object.entries(each.difference).map(([name, count]) => el("span", { class: "chip mono" },
        el("span", { class: count > 0 ? "plus" : "minus" },
          (count > 0 ? "+" : "−") + Math.abs(count)),
        " " + name)) : "attributes, types or order") : "no change")));
  return [el("div", { class: "two", style: "grid-template-columns:minmax(0,1.6fr) minmax(0,1fr);" +
    "align-items:start" },
    card(`${changed.length} of ${data.passes.length} passes changed something`,
      "Operations that a pass added and took away, in the order of the pipeline.",
      el("table", {}, el("tr", {}, ["stage", "pass", "operations"].map(title =>
        el("th", {}, title))), rows)),
    card("Refused, and why", "Remarks of passes that found a reason not to do their work.",
      kernel.remarks.length ? remarksOf(kernel) : el("p", { class: "note" }, "none")))];
}

function showTab(name) {
  const known = tabs.some(([id]) => id === name) ? name : "overview";
  for (const link of document.querySelectorAll("#tabs a"))
    link.setAttribute("aria-selected", String(link.hash === "#" + known));
  for (const [id, , view] of tabs) {
    if (id === known && !page.sections.has(id)) {
      const section = el("section", { id: "view-" + id });
      page.sections.set(id, section);
      document.getElementById("main").append(section);
      section.append(...[view(page.kernel, page.data)].flat());
    }
    if (page.sections.has(id)) page.sections.get(id).hidden = id !== known;
  }
}

/** Shows a tab and puts it into the address, where the page has one of its own. */
function openTab(name) {
  try { history.replaceState(null, "", "#" + name); } catch { /* a page inside of another */ }
  showTab(name);
}

function showKernel(index) {
  const data = page.data, kernel = page.kernel = data.kernels[index];
  page.sections.clear();
  code.panes.length = 0;
  code.index.clear();
  document.getElementById("main").replaceChildren();
  document.getElementById("name").textContent = kernel.symbol;
  document.getElementById("subtitle").textContent = `${data.target}` +
    (data.device ? ` · ${data.device.name}` : "") + " · " +
    Object.entries(kernel.shape).map(([name, extent]) => `${name}=${extent}`).join(", ");
  showTab(location.hash.slice(1));
}

function start() {
  const data = page.data = JSON.parse(document.getElementById("document").textContent);
  const root = document.documentElement;
  root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const asked = new URLSearchParams(location.search).get("theme");
  if (asked) root.dataset.theme = asked;
  document.getElementById("theme").onclick = () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  };
  if (data.kind === "comparison") {
    document.getElementById("name").textContent = "Comparison";
    document.getElementById("subtitle").textContent = `A: ${data.a.title} · B: ${data.b.title}`;
    document.getElementById("main").append(...viewComparison(data));
    return;
  }
  document.getElementById("tabs").append(...tabs.map(([id, title]) =>
    el("a", { href: "#" + id, role: "tab", onclick: event => {
      event.preventDefault();
      openTab(id);
    } }, title)));
  const select = document.getElementById("kernel");
  select.hidden = data.kernels.length < 2;
  data.kernels.forEach((kernel, i) => select.append(el("option", { value: i }, kernel.symbol)));
  select.onchange = () => showKernel(Number(select.value));
  addEventListener("hashchange", () => showTab(location.hash.slice(1)));
  showKernel(0);
  const line = Number(new URLSearchParams(location.search).get("line"));
  if (line) pinLine(0, line);
}

addEventListener("DOMContentLoaded", start);
