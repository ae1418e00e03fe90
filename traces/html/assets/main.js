// The start: reads the payload, fills the page, joins controls with what they
// control.

const pageElements = [
  "timeline", "overview", "tooltip", "details", "search", "matches", "group", "legend", "hint", "chart", "figures", "term", "heat",
  "measure", "theme", "loading", "zoom-in", "zoom-out", "zoom-all", "previous", "next", "slowest", "panels",
];

function findElements() {
  return Object.fromEntries(pageElements.map((id) => [id, document.getElementById(id)]));
}

// fillLegend makes a switch for each class that occurs.
function fillLegend(timeline) {
  const { model, page } = timeline;
  const occurs = new Set(model.classOf);
  classes.forEach((c, k) => {
    if (!occurs.has(k)) return;
    const box = element("input", { type: "checkbox", checked: "" });
    box.addEventListener("change", () => {
      timeline.filter.toggle(c.name, !box.checked);
      refilter(timeline);
    });
    page.legend.append(element("label", { class: "class-" + c.name }, box, element("i"), c.name));
  });
}

// fillPathSwitch shows and hides critical paths, if there are any.
function fillPathSwitch(timeline) {
  if (timeline.model.segments.n === 0) return;
  const box = element("input", { type: "checkbox", checked: "" });
  box.addEventListener("change", () => {
    timeline.painter.showPaths = box.checked;
    timeline.draw();
  });
  timeline.page.legend.append(element("label", { class: "path", title: "of the slowest collective of each kind, and of the median one" }, box, element("i"), "critical path"));
}

function fillGroups(timeline) {
  const { model, page } = timeline;
  page.group.append(element("option", { value: -1 }, "all collectives"));
  for (const group of model.groups) page.group.append(element("option", { value: group.index }, `${group.name} (${group.count})`));
  page.group.addEventListener("change", () => {
    timeline.filter.setGroup(Number(page.group.value));
    refilter(timeline);
    drawPanels(timeline);
  });
}

function refilter(timeline) {
  const { filter, page, model } = timeline;
  timeline.refilter();
  const all = filter.matches === model.operations.n;
  page.matches.textContent = all ? `${formatCount(model.operations.n)} operations` : `${formatCount(filter.matches)} of ${formatCount(model.operations.n)} operations`;
}

function listenToSearch(timeline) {
  const { page, filter } = timeline;
  page.search.addEventListener("input", () => {
    const unknown = filter.setText(page.search.value);
    page.search.setAttribute("aria-invalid", unknown.length > 0);
    refilter(timeline);
    if (unknown.length > 0) page.matches.textContent = `not understood: ${unknown.join(" ")}`;
  });
  page.search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") timeline.find(!event.shiftKey);
    if (event.key === "Escape") timeline.canvas.focus();
  });
}

function listenToButtons(timeline) {
  const { page } = timeline;
  const keys = { "zoom-in": "+", "zoom-out": "-", "zoom-all": "f", previous: "[", next: "]", slowest: "m" };
  for (const [id, key] of Object.entries(keys)) {
    page[id].addEventListener("click", () => {
      keyActions[key](timeline);
      timeline.draw();
    });
  }
}

// drawPanels fills the distribution and the heat map.
function drawPanels(timeline) {
  const { page, model, filter } = timeline;
  const name = page.term.value;
  drawDistribution(page.chart, page.figures, name, distributionTerms[name].of(model, keeper(model, filter.group)));
  drawHeat(page.heat, model, filter.group, page.measure.value);
}

function listenToPanels(timeline) {
  for (const id of ["term", "measure"]) timeline.page[id].addEventListener("change", () => drawPanels(timeline));
}

function darkNow() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function listenToTheme(timeline) {
  timeline.page.theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = darkNow() ? "light" : "dark";
    timeline.restyle();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => timeline.restyle());
}

// emptyNote says why there is nothing to show.
function emptyNote(page) {
  page.loading.textContent = "No operations were recorded, so there is no timeline (--trace off records none).";
}

function begin(tables, page) {
  const model = new Model(tables);
  if (model.operations.n === 0 && model.collectives.n === 0) return emptyNote(page);
  page.loading.hidden = true;
  page.panels.hidden = false;
  const timeline = new Timeline(model, page);
  fillLegend(timeline);
  fillPathSwitch(timeline);
  fillGroups(timeline);
  refilter(timeline);
  listenToPointer(timeline);
  listenToWheel(timeline);
  listenToKeys(timeline);
  listenToSearch(timeline);
  listenToButtons(timeline);
  listenToPanels(timeline);
  listenToTheme(timeline);
  addEventListener("resize", () => timeline.resize());
  if (model.header.left_out > 0) page.hint.prepend(`${formatCount(model.header.left_out)} operations are left out, the last ones of each rank. `);
  if (model.header.covered < model.collectives.n) page.hint.prepend(`Distributions and pairs are of the first ${formatCount(model.header.covered)} collectives. `);
  drawPanels(timeline);
  Object.assign(page.timeline.dataset, { operations: model.operations.n, places: JSON.stringify(timeline.view.places()) });
  requestAnimationFrame(() => (page.timeline.dataset.ready = performance.now().toFixed(0)));
}

async function start() {
  const page = findElements();
  try {
    const payload = document.getElementById("payload");
    const tables = await readPayload(payload.textContent);
    payload.remove();
    begin(tables, page);
  } catch (error) {
    page.loading.textContent = `The timeline cannot be shown: ${error.message}. The page needs a browser of 2023 or newer.`;
    throw error;
  }
}

start();
