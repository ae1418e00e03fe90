// The timeline: the canvas, what is hovered and selected, and when to draw.

const noMarks = { hovered: -1, selected: -1, sources: [], targets: [] };

class Timeline {
  constructor(model, page) {
    this.model = model;
    this.page = page; // its elements, by id
    this.canvas = page.timeline;
    this.view = new View(model);
    this.view.bandLanes = model.bandLanes;
    this.filter = new Filter(model);
    this.context = this.canvas.getContext("2d");
    this.painter = new Painter(this.context, model, this.view);
    this.overview = new Overview(page.overview, model, this.view, () => this.draw());
    this.marks = { ...noMarks };
    this.pending = false;
    this.painter.showPaths = true;
    this.restyle();
    this.resize();
    this.view.showAll();
    this.draw();
  }

  // restyle reads the colours again, after the theme changed.
  restyle() {
    this.theme = new Theme(document.body);
    this.refilter();
  }

  // refilter takes up a changed filter.
  refilter() {
    this.density = new Density(this.model, this.filter.shown);
    this.overview.refresh(this.theme, this.filter.shown);
    this.draw();
  }

  resize() {
    const width = this.canvas.clientWidth;
    const wanted = this.view.header + this.view.model.rowsOfRank.size * rankGap + this.model.rows.length * 24 + 10;
    const height = Math.round(Math.max(120, Math.min(innerHeight * 0.62, wanted)));
    this.canvas.style.height = height + "px";
    this.canvas.width = Math.round(width * devicePixelRatio);
    this.canvas.height = Math.round(height * devicePixelRatio);
    this.context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    this.view.fit(width, height);
    this.overview.refresh(this.theme, this.filter.shown);
    this.draw();
  }

  // draw asks for one redraw in the next frame.
  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawNow();
    });
  }

  drawNow() {
    const begin = performance.now();
    this.painter.paint(this.theme, this.density, this.marks);
    this.overview.draw();
    const data = this.canvas.dataset;
    data.drawMillis = (performance.now() - begin).toFixed(2);
    data.from = this.view.from;
    data.to = this.view.to;
    data.gutter = gutterWidth;
  }

  // hover shows what is under the pointer.
  hover(x, y, event) {
    const i = this.view.operationAt(x, y);
    const c = i < 0 ? this.collectiveAt(x, y) : -1;
    if (i !== this.marks.hovered) {
      this.marks.hovered = i;
      this.draw();
    }
    const tip = this.page.tooltip;
    tip.hidden = i < 0 && c < 0;
    if (tip.hidden) return;
    if (i >= 0) card(tip, titleOf(this.model, i), termsOf(this.model, i));
    else card(tip, this.model.collectiveName(c), collectiveTerms(this.model, c));
    placeBeside(tip, event.clientX, event.clientY);
  }

  // collectiveAt is the collective whose band is under a point.
  collectiveAt(x, y) {
    const lane = Math.floor((y - rulerHeight) / bandHeight), time = this.view.time(x), { start, cct, n } = this.model.collectives;
    if (x < gutterWidth || lane < 0 || lane >= this.view.bandLanes) return -1;
    for (let i = 0; i < n; i++) {
      if (this.model.bandLane[i] === lane && start[i] <= time && time <= start[i] + cct[i]) return i;
    }
    return -1;
  }

  leave() {
    this.page.tooltip.hidden = true;
    this.marks.hovered = -1;
    this.draw();
  }

  // select frames an operation, joins it with its neighbours, and describes it.
  select(i, reveal = false) {
    this.marks = { ...noMarks, hovered: this.marks.hovered, selected: i };
    if (i >= 0) {
      this.marks.sources = sourcesOf(this.model, i);
      this.marks.targets = targetsOf(this.model, i);
      if (reveal) this.view.reveal(i);
    }
    this.describe(i);
    this.draw();
  }

  describe(i) {
    const { details } = this.page;
    details.hidden = i < 0;
    if (i < 0) return;
    card(details, titleOf(this.model, i), termsOf(this.model, i));
    const jumps = element("div", { class: "jumps" });
    const jump = (text, to) => {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", () => this.select(to, true));
      jumps.append(button);
    };
    for (const s of this.marks.sources) jump(`from: ${this.named(s)}`, s);
    for (const t of this.marks.targets) jump(`to: ${this.named(t)}`, t);
    details.append(jumps);
  }

  named(i) {
    return `${titleOf(this.model, i)}, ${direction(this.model, i)}`;
  }

  // step selects the next operation of the row, or the first that fits the
  // filter when none is selected.
  step(by) {
    const { selected } = this.marks;
    if (selected < 0) return this.find(true);
    const lane = this.model.laneOf(selected);
    let i = selected + by;
    while (i >= lane.from && i < lane.to && this.filter.shown[i] >= dimClass) i += by;
    if (i >= lane.from && i < lane.to) this.select(i, true);
  }

  // find selects the next operation in time that fits the filter.
  find(forward) {
    const { selected } = this.marks;
    const time = selected >= 0 ? this.model.operations.start[selected] : forward ? -1 : Infinity;
    const i = this.filter.next(time, forward);
    if (i >= 0) this.select(i, true);
  }

  // showCollective zooms to the next collective, or the one before.
  showCollective(by) {
    const { start, cct, groupIndex } = this.model.collectives, { view, filter } = this;
    const middle = (view.from + view.to) / 2;
    const order = this.model.byStart.filter((c) => filter.group < 0 || groupIndex[c] === filter.group);
    const after = order.findIndex((c) => start[c] + cct[c] / 2 > middle + 1);
    const behind = after < 0 ? order.length : after;
    const here = behind > 0 && Math.abs(start[order[behind - 1]] + cct[order[behind - 1]] / 2 - middle) < 2;
    const c = order[by > 0 ? behind : behind - (here ? 2 : 1)] ?? order[by > 0 ? order.length - 1 : 0];
    if (c === undefined) return;
    view.show(start[c] - cct[c] * 0.04, start[c] + cct[c] * 1.04);
    this.draw();
  }
}

// showSlowest zooms to the slowest collective, of those that count.
function showSlowest(timeline) {
  const { model, filter, view } = timeline, { start, cct, n } = model.collectives, keep = keeper(model, filter.group);
  let slowest = -1;
  for (let c = 0; c < n; c++) {
    if (keep(c) && (slowest < 0 || cct[c] > cct[slowest])) slowest = c;
  }
  if (slowest >= 0) view.show(start[slowest] - cct[slowest] * 0.04, start[slowest] + cct[slowest] * 1.04);
}

// placeBeside puts a tooltip beside a point, inside the window.
function placeBeside(tip, x, y) {
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 16 + width > innerWidth ? x - width - 12 : x + 16;
  const top = y + 16 + height > innerHeight ? y - height - 12 : y + 16;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, top) + "px";
}
