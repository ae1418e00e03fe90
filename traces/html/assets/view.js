// The view: which part of the run the timeline shows, and where on the canvas.

const gutterWidth = 108, rulerHeight = 22, bandHeight = 20, rankGap = 5;
const shortestView = 20; // nanoseconds

class View {
  constructor(model) {
    this.model = model;
    this.from = 0;
    this.to = model.end;
    this.scroll = 0;
    this.width = 800;
    this.height = 300;
    this.bandLanes = 1;
    this.layRows(18);
  }

  // layRows gives each row its place below the collectives.
  layRows(rowHeight) {
    this.rowHeight = rowHeight;
    this.tops = [];
    let y = 2, rank = null;
    for (const row of this.model.rows) {
      if (rank !== null && row.rank !== rank) y += rankGap;
      rank = row.rank;
      this.tops.push(y);
      y += this.heightOf(row);
    }
    this.contentHeight = y + 4;
  }

  // heightOf makes room for a row's lanes.
  heightOf(row) {
    return this.rowHeight + (row.lanes.length - 1) * Math.round(this.rowHeight * 0.6);
  }

  get header() {
    return rulerHeight + this.bandLanes * bandHeight;
  }

  get plotWidth() {
    return Math.max(1, this.width - gutterWidth);
  }

  get scale() {
    return this.plotWidth / (this.to - this.from);
  }

  x(time) {
    return gutterWidth + (time - this.from) * this.scale;
  }

  time(x) {
    return this.from + (x - gutterWidth) / this.scale;
  }

  top(row) {
    return this.header + this.tops[row.index] - this.scroll;
  }

  // fit chooses a height of rows that fills the canvas, within reason.
  fit(width, height) {
    this.width = width;
    this.height = height;
    const rows = this.model.rows.length || 1;
    const room = height - this.header - this.model.rowsOfRank.size * rankGap - 6;
    const lanes = this.model.rows.reduce((sum, row) => sum + 1 + (row.lanes.length - 1) * 0.6, 0) || rows;
    this.layRows(Math.max(11, Math.min(30, Math.floor(room / lanes))));
    this.scrollTo(this.scroll);
  }

  scrollTo(y) {
    const most = Math.max(0, this.contentHeight - (this.height - this.header));
    this.scroll = Math.max(0, Math.min(most, y));
    return most > 0;
  }

  show(from, to) {
    const span = Math.max(shortestView, Math.min(to - from, this.model.end * 1.1));
    const middle = (from + to) / 2, margin = span * 0.5;
    const start = Math.max(-margin, Math.min(this.model.end + margin - span, middle - span / 2));
    this.from = start;
    this.to = start + span;
  }

  showAll() {
    const margin = this.model.end * 0.01;
    this.show(-margin, this.model.end + margin);
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) / factor, at + (this.to - at) / factor);
  }

  pan(fraction) {
    const by = (this.to - this.from) * fraction;
    this.show(this.from + by, this.to + by);
  }

  // reveal brings an operation into view.
  reveal(i) {
    const ops = this.model.operations, row = this.model.rowOf(i);
    const start = ops.start[i], end = start + ops.time[i], span = this.to - this.from;
    if (end < this.from || start > this.to || ops.time[i] * this.scale < 6) {
      const wanted = Math.max(ops.time[i] * 12, Math.min(span, ops.time[i] * 60 || span));
      this.show((start + end) / 2 - wanted / 2, (start + end) / 2 + wanted / 2);
    }
    const y = this.tops[row.index], room = this.height - this.header;
    if (y < this.scroll) this.scrollTo(y - 10);
    if (y + this.heightOf(row) > this.scroll + room) this.scrollTo(y + this.heightOf(row) - room + 10);
  }

  // places tells where the rows are, for who drives the page from outside.
  places() {
    return this.model.rows.map((row) => ({ Rank: row.rank, Stream: row.stream, Top: this.top(row), Height: this.heightOf(row) }));
  }

  rowAt(y) {
    return this.model.rows.find((row) => y >= this.top(row) && y < this.top(row) + this.heightOf(row));
  }

  // lanePlace is where a lane of a row is drawn.
  lanePlace(row, lane) {
    const n = row.lanes.length, step = (this.heightOf(row) - 2) / n;
    return { y: this.top(row) + 1 + lane * step, height: Math.max(2, step - 1) };
  }

  placeOf(i) {
    const row = this.model.rowOf(i);
    const lane = row.lanes.findIndex((l) => i < l.to);
    return this.lanePlace(row, lane);
  }

  // operationAt is the operation under a point; the nearest within two pixels
  // counts, since many are thin.
  operationAt(x, y) {
    const row = x >= gutterWidth && y >= this.header ? this.rowAt(y) : undefined;
    if (!row) return -1;
    const lanes = row.lanes.map((lane, k) => ({ lane, ...this.lanePlace(row, k) }));
    const hit = lanes.find((l) => y < l.y + l.height + 1) || lanes[lanes.length - 1];
    return this.operationIn(hit.lane, this.time(x));
  }

  operationIn(lane, time) {
    const ops = this.model.operations, reach = 2 / this.scale;
    let best = -1, least = Infinity;
    for (let i = this.model.firstAt(lane, time - reach), n = 0; i < lane.to && ops.start[i] <= time + reach && n < 4096; i++, n++) {
      const distance = Math.max(0, ops.start[i] - time, time - ops.start[i] - ops.time[i]);
      if (distance < least || (distance === least && ops.time[i] < ops.time[best])) [best, least] = [i, distance];
    }
    return best;
  }
}
