// Painting of the timeline. Everything is drawn afresh each time; the cost
// follows the pixels, not the operations.

// Theme holds the colours of the style, for canvases.
class Theme {
  constructor(element) {
    const style = getComputedStyle(element);
    const colour = (name) => style.getPropertyValue("--" + name).trim();
    this.classes = [...classes.map((c) => colour("class-" + c.name)), colour("dim"), "transparent"];
    for (const name of ["text", "muted", "line", "panel", "stripe", "accent", "band-even", "band-odd", "ink", "danger", "part"]) this[name] = colour(name);
    this.font = style.fontFamily;
  }
}

class Painter {
  constructor(context, model, view) {
    Object.assign(this, { context, model, view });
  }

  // paint draws all of it. marked are the operations to frame, by style.
  paint(theme, density, marks) {
    Object.assign(this, { theme, density, shown: density.shown });
    const { context: c, view } = this;
    c.clearRect(0, 0, view.width, view.height);
    c.textBaseline = "middle";
    this.clipped(0, view.header, () => this.rows());
    this.clipped(gutterWidth, 0, () => this.bands());
    this.clipped(gutterWidth, view.header, () => {
      this.operations();
      this.paths();
      this.arrows(marks);
      this.frames(marks);
    });
    this.ruler();
    this.scrollBar();
  }

  // scrollBar shows, where rows do not fit, which of them are there.
  scrollBar() {
    const { view, theme } = this, room = view.height - view.header;
    if (view.contentHeight <= room) return;
    const y = view.header + (view.scroll / view.contentHeight) * room;
    this.fill(theme.line, view.width - 6, view.header, 6, room);
    this.fill(theme.muted, view.width - 6, y, 6, (room / view.contentHeight) * room);
  }

  clipped(x, y, draw) {
    const { context: c, view } = this;
    c.save();
    c.beginPath();
    c.rect(x, y, view.width - x, view.height - y);
    c.clip();
    draw();
    c.restore();
  }

  fill(colour, x, y, width, height) {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  text(text, x, y, colour, size = 11, weight = "") {
    this.context.font = `${weight} ${size}px ${this.theme.font}`;
    this.context.fillStyle = colour;
    this.context.fillText(text, x, y);
  }

  // fitted is a text cut to a width, "" if hardly anything would be left.
  fitted(text, width) {
    const letters = Math.floor(width / 6.3);
    if (letters >= text.length) return text;
    return letters < 4 ? "" : text.slice(0, letters - 1) + "…";
  }

  // ruler draws the time axis, in steps of 1, 2 or 5.
  ruler() {
    const { context: c, view, theme } = this;
    const wanted = (view.to - view.from) / Math.max(1, view.plotWidth / 110);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= wanted);
    this.fill(theme.panel, 0, 0, gutterWidth, view.header);
    for (let k = Math.ceil(view.from / step); k * step <= view.to; k++) {
      const x = Math.round(view.x(k * step)) + 0.5;
      this.fill(theme.line, x, rulerHeight - 5, 1, 5);
      c.textAlign = "left";
      this.text(formatAt(k * step, step), x + 4, rulerHeight / 2, theme.muted);
    }
    this.text("time", 10, rulerHeight / 2, theme.muted);
    this.text("collectives", 10, rulerHeight + (view.bandLanes * bandHeight) / 2, theme.muted);
    this.fill(theme.line, 0, view.header - 1, view.width, 1);
  }

  // bands draws the collectives: a name on top, a tint behind the rows.
  bands() {
    const { model, view, theme } = this, { start, cct, n } = model.collectives;
    const drawn = new Float64Array(view.bandLanes).fill(-1);
    for (let i = 0; i < n; i++) {
      const x = view.x(start[i]), end = view.x(start[i] + cct[i]), lane = model.bandLane[i];
      if (end < gutterWidth || x > view.width || end < drawn[lane] + 0.5) continue;
      drawn[lane] = end;
      const colour = i % 2 ? theme["band-odd"] : theme["band-even"], width = Math.max(1, end - x - 1);
      if (width > 3) this.fill(colour, x, view.header, width, view.height);
      this.band(i, colour, x, end, rulerHeight + lane * bandHeight);
    }
  }

  band(i, colour, x, end, y) {
    const { model, theme } = this;
    this.fill(colour, x, y, Math.max(1, end - x - 1), bandHeight - 3);
    const warmup = model.collectives.flags[i] & warmupFlag ? ", warm-up" : "";
    const left = Math.max(x, gutterWidth) + 5;
    const name = `${model.collectiveName(i)}  ${formatTime(model.collectives.cct[i])}${warmup}`;
    const text = this.fitted(name, end - left - 4);
    if (text) this.text(text, left, y + bandHeight / 2 - 1, theme.text);
  }

  visibleRows() {
    const { view } = this;
    return this.model.rows.filter((row) => view.top(row) < view.height && view.top(row) + view.heightOf(row) > view.header);
  }

  // rows draws names and stripes.
  rows() {
    const { view, theme, context: c } = this;
    c.textAlign = "left";
    for (const row of this.visibleRows()) {
      const y = view.top(row), height = view.heightOf(row), middle = y + Math.min(height, view.rowHeight) / 2;
      this.fill(theme.stripe, gutterWidth, y, view.width, height - 1);
      const first = this.model.rowsOfRank.get(row.rank)[0] === row;
      if (first) {
        this.fill(theme.line, 0, y - 3, view.width, 1);
        this.text(`rank ${row.rank}`, 10, middle, theme.text, 11, "600");
      }
      this.text(rowName(row), 62, middle, theme.muted, 10);
    }
  }

  operations() {
    for (const row of this.visibleRows()) {
      row.lanes.forEach((lane, k) => {
        const { y, height } = this.view.lanePlace(row, k);
        this.lane(lane, y, height);
      });
      if (this.model.rowsOfRank.get(row.rank)[0] === row) this.parts(row);
    }
    this.context.globalAlpha = 1;
  }

  // lane draws a lane from left to right: an operation that is a pixel wide or
  // more by itself, smaller ones together.
  lane(lane, y, height) {
    const { model, view } = this, { start, time } = model.operations;
    for (let i = model.firstAt(lane, view.from); i < lane.to && start[i] < view.to; ) {
      const x = view.x(start[i]), width = time[i] * view.scale;
      if (width >= 1) {
        this.operation(i, x, y, width, height);
        i++;
      } else {
        i = this.pixel(lane, i, x, y, height);
      }
    }
  }

  operation(i, x, y, width, height) {
    const c = this.shown[i];
    if (c === hiddenClass) return;
    const left = Math.max(x, gutterWidth - 1), right = Math.min(x + width, this.view.width + 1);
    const gap = right - left > 3 ? 0.6 : 0;
    this.context.globalAlpha = 1;
    this.fill(this.theme.classes[c], left, y, right - left - gap, height);
    if (this.model.operations.status[i]) this.fill(this.theme.danger, left, y + height - 3, right - left - gap, 3);
    if (right - left > 34 && height > 10 && c !== dimClass) this.label(i, left, y + height / 2, right - left);
  }

  label(i, x, y, width) {
    const names = shortNames(this.model, i), room = (width - 6) / 6.3;
    const text = names.find((name) => name.length <= room) || this.fitted(names[names.length - 1], width - 6);
    if (text) this.text(text, x + 4, y + 0.5, this.theme.ink, 10);
  }

  // pixel draws the operations that begin in the pixel at x and are smaller
  // than one, as one column, and gives the first operation behind them.
  pixel(lane, i, x, y, height) {
    const { model, view } = this, { start, time } = model.operations;
    const column = Math.floor(x), until = view.time(column + 1);
    let end = Math.max(i + 1, model.firstFrom(i, lane.to, until));
    for (let k = i + 1; k < end; k++) {
      if (end - k > 64) k = end - 1; // of many, only the last can be wide
      if (time[k] * view.scale >= 1) end = k;
    }
    const sums = this.density.of(i, end), c = heaviest(sums);
    if (c >= 0) {
      let busy = 0;
      for (let k = 0; k <= dimClass; k++) busy += sums[k];
      this.context.globalAlpha = Math.min(1, 0.35 + 0.65 * busy * view.scale);
      this.fill(this.theme.classes[c], column, y, 1, height);
    }
    return end;
  }

  // parts draws a line above a rank for each collective while the rank takes
  // part.
  parts(row) {
    const { model, view, theme } = this, { start, time } = model.parts;
    const list = model.partsOfRank.get(row.rank) || [], y = view.top(row) - 2;
    this.context.globalAlpha = 1;
    let drawn = -1;
    for (let k = Math.max(0, upperBound(0, list.length, (k) => start[list[k]] < view.from) - 4); k < list.length; k++) {
      const i = list[k], x = view.x(start[i]), end = view.x(start[i] + time[i]);
      if (x > view.width) break;
      if (end < drawn + 0.5) continue;
      drawn = end;
      this.fill(theme.part, x, y, Math.max(1, end - x - 1), 2);
    }
  }

  // paths draws critical paths: along the upper edge of the rank that they lead
  // through, and from rank to rank where they change.
  paths() {
    const { context: c, model, view, theme } = this, { n, collective, rank, start, time } = model.segments;
    if (!this.showPaths) return;
    c.strokeStyle = theme.danger;
    c.lineWidth = 2.5;
    c.lineJoin = "round";
    c.beginPath();
    for (let i = 0, last = -1; i < n; i++) {
      const x = view.x(start[i]), end = view.x(start[i] + time[i]), row = model.rowsOfRank.get(rank[i]);
      if (!row || end < gutterWidth - 50 || x > view.width + 50) {
        last = -1;
        continue;
      }
      const y = view.top(row[0]) - 1;
      if (last === collective[i]) c.lineTo(x, y);
      else c.moveTo(x, y);
      c.lineTo(end, y);
      last = collective[i];
    }
    c.stroke();
  }

  frames({ hovered, selected }) {
    if (hovered >= 0) this.frame(hovered, this.theme.text, 1);
    if (selected >= 0) this.frame(selected, this.theme.text, 2);
  }

  frame(i, colour, width) {
    const { context: c, view, model } = this, { y, height } = view.placeOf(i);
    const x = view.x(model.operations.start[i]);
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.strokeRect(x - 1, y - 1, Math.max(3, model.operations.time[i] * view.scale + 1), height + 1.5);
  }

  // arrows join the selected operation with those that it waited for and those
  // that waited for it.
  arrows({ selected, sources, targets }) {
    for (const i of sources) this.arrow(i, selected);
    for (const i of targets) this.arrow(selected, i);
  }

  arrow(from, to) {
    const { context: c, view, model, theme } = this;
    const a = view.placeOf(from), b = view.placeOf(to);
    const x1 = view.x(model.endOf(from)), y1 = a.y + a.height / 2;
    const x2 = view.x(model.operations.start[to]), y2 = b.y + b.height / 2;
    const bend = Math.max(24, Math.min(120, Math.abs(x2 - x1) / 2));
    for (const [colour, width] of [[theme.panel, 4.5], [theme.accent, 2]]) {
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.beginPath();
      c.moveTo(x1, y1);
      c.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 5, y2);
      c.stroke();
    }
    c.fillStyle = theme.accent;
    c.beginPath();
    c.moveTo(x2 + 1, y2);
    c.lineTo(x2 - 8, y2 - 5);
    c.lineTo(x2 - 8, y2 + 5);
    c.fill();
  }
}
