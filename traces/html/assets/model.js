// The model: what the tables mean, and how to find things in them.

// Classes of operations, in the order of the legend. Their colours are the
// --class-NAME properties of the style.
const classes = [
  { name: "copy", kinds: ["copy"] },
  { name: "put", kinds: ["put", "send"] },
  { name: "get", kinds: ["get", "recv"] },
  { name: "reduce", kinds: ["reduce"] },
  { name: "compute", kinds: ["gemm", "compute", "rows", "cast"] },
  { name: "check", kinds: ["fill", "verify", "digest"] },
  { name: "wait", kinds: ["wait", "event_wait"] },
  { name: "signal", kinds: ["signal", "event_record"] },
  { name: "call", kinds: ["call"] },
  { name: "guest", kinds: ["barrier", "share_lookup", "stream_sync", "event_sync"] },
  { name: "mark", kinds: ["mark"] },
  { name: "other", kinds: [] },
];
const otherClass = classes.length - 1;
const dimClass = classes.length; // what a filter leaves out
const hiddenClass = classes.length + 1;
const classCount = classes.length + 2;

const warmupFlag = 1, completeFlag = 2, disagreeingFlag = 4;

// Model is the run.
class Model {
  constructor(tables) {
    Object.assign(this, tables);
    this.kinds = this.header.kinds;
    this.rows = this.layRows();
    this.rowsOfRank = this.groupRows();
    this.classOf = this.classify();
    this.reach = this.reaches();
    this.partsOfRank = this.groupParts();
    this.flowsFrom = firstOfEach(this.flows.collective, this.collectives.n);
    this.end = this.lastEnd();
    this.groups = this.groupCollectives();
    this.byStart = Array.from(this.collectives.start.keys()).sort((a, b) => this.collectives.start[a] - this.collectives.start[b]);
    [this.bandLane, this.bandLanes] = this.layBands();
  }

  // layBands puts collectives that overlap, those of different groups, below
  // each other, as far as there is room.
  layBands() {
    const { start, cct, n } = this.collectives, lanes = new Uint8Array(n), ends = [];
    for (const c of this.byStart) {
      let lane = ends.findIndex((end) => end <= start[c]);
      if (lane < 0) lane = Math.min(ends.length, 3);
      ends[lane] = start[c] + cct[c];
      lanes[c] = lane;
    }
    return [lanes, Math.max(1, ends.length)];
  }

  // layRows gives each row its lanes, as ranges of operations.
  layRows() {
    let at = 0;
    return this.header.rows.map((row, index) => {
      const from = at;
      const lanes = row.lanes.map((n) => {
        const lane = { from: at, to: at + n };
        this.sumStarts(lane);
        at += n;
        return lane;
      });
      return { index, rank: row.rank, stream: row.stream, lanes, from, to: at };
    });
  }

  sumStarts({ from, to }) {
    const start = this.operations.start;
    for (let i = from + 1; i < to; i++) start[i] += start[i - 1];
  }

  groupRows() {
    const byRank = new Map();
    for (const row of this.rows) {
      if (!byRank.has(row.rank)) byRank.set(row.rank, []);
      byRank.get(row.rank).push(row);
    }
    return byRank;
  }

  classify() {
    const ofKind = new Uint8Array(256).fill(otherClass);
    this.kinds.forEach((name, kind) => {
      const at = classes.findIndex((c) => c.kinds.includes(name));
      if (at >= 0) ofKind[kind] = at;
    });
    return this.operations.kind.map((kind) => ofKind[kind]);
  }

  // reaches holds, for each operation, the latest end up to it in its lane.
  reaches() {
    const { start, time, n } = this.operations;
    const reach = new Float64Array(n);
    for (const row of this.rows) {
      for (const { from, to } of row.lanes) {
        let latest = 0;
        for (let i = from; i < to; i++) reach[i] = latest = Math.max(latest, start[i] + time[i]);
      }
    }
    return reach;
  }

  // groupParts lists the parts of each rank by start.
  groupParts() {
    const byRank = new Map();
    const { rank, start, n } = this.parts;
    for (let i = 0; i < n; i++) {
      if (!byRank.has(rank[i])) byRank.set(rank[i], []);
      byRank.get(rank[i]).push(i);
    }
    for (const list of byRank.values()) list.sort((a, b) => start[a] - start[b]);
    return byRank;
  }

  lastEnd() {
    let end = 0;
    for (let i = 0; i < this.operations.n; i++) end = Math.max(end, this.reach[i]);
    const c = this.collectives;
    for (let i = 0; i < c.n; i++) end = Math.max(end, c.start[i] + c.cct[i]);
    return Math.max(end, 1);
  }

  // groupCollectives sorts collectives as the summary does: by name, size and
  // ranks.
  groupCollectives() {
    const c = this.collectives;
    const groups = new Map();
    c.groupIndex = new Uint32Array(c.n);
    for (let i = 0; i < c.n; i++) {
      const name = `${this.header.names[c.label[i]]}, ${formatBytes(c.bytes[i])} on ${c.ranks[i]} ranks`;
      if (!groups.has(name)) groups.set(name, { index: groups.size, name, count: 0 });
      groups.get(name).count++;
      c.groupIndex[i] = groups.get(name).index;
    }
    return [...groups.values()];
  }

  // counts reports whether a collective has a place in statistics.
  counts(collective) {
    return (this.collectives.flags[collective] & (warmupFlag | completeFlag | disagreeingFlag)) === completeFlag;
  }

  endOf(i) {
    return this.operations.start[i] + this.operations.time[i];
  }

  kindOf(i) {
    return this.kinds[this.operations.kind[i]] || "unknown";
  }

  // peerOf is the other rank of an operation, -1 for none.
  peerOf(i) {
    const peer = this.operations.peer[i] - 1;
    return peer < this.header.ranks ? peer : -1;
  }

  // rowOf finds the row of an operation.
  rowOf(i) {
    const at = upperBound(0, this.rows.length, (k) => this.rows[k].to <= i);
    return this.rows[at];
  }

  laneOf(i) {
    return this.rowOf(i).lanes.find((lane) => i < lane.to);
  }

  // firstAt is the first operation of a lane that ends after a time.
  firstAt(lane, time) {
    return upperBound(lane.from, lane.to, (i) => this.reach[i] <= time);
  }

  // firstFrom is the first operation of [from, to) that begins at a time or
  // later. It gallops, since callers go on from where they are.
  firstFrom(from, to, time) {
    const start = this.operations.start;
    let step = 1;
    while (from + step < to && start[from + step] < time) step *= 2;
    return upperBound(from + (step >> 1), Math.min(to, from + step + 1), (i) => start[i] < time);
  }

  collectiveName(c) {
    const { label, sequence, group } = this.collectives;
    const name = `${this.header.names[label[c]]} #${sequence[c]}`;
    return group[c] ? `${name} of group ${group[c]}` : name;
  }
}

// upperBound is the first index in [from, to) for which before is false.
function upperBound(from, to, before) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (before(middle)) from = middle + 1;
    else to = middle;
  }
  return from;
}

// firstOfEach gives, for sorted numbers below n, where each begins; entry n is
// the end.
function firstOfEach(sorted, n) {
  const first = new Uint32Array(n + 1);
  let at = 0;
  for (let k = 0; k <= n; k++) {
    while (at < sorted.length && sorted[at] < k) at++;
    first[k] = at;
  }
  return first;
}
