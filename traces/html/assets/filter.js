// The filter: a line of words, of which an operation must fit every one.
//
//   get             the kind, or a part of the collective's name
//   rank=1 peer=2   also stream, collective, chunk, slice, flow, message, step
//   bytes>1MiB      also time>100us, with units

const filterFields = {
  rank: (m, i) => m.rowOf(i).rank,
  stream: (m, i) => m.rowOf(i).stream,
  peer: (m, i) => m.peerOf(i),
  collective: (m, i) => (m.operations.collective[i] ? m.collectives.sequence[m.operations.collective[i] - 1] : -1),
  chunk: (m, i) => m.operations.chunk[i],
  slice: (m, i) => m.operations.slice[i],
  flow: (m, i) => m.operations.flow[i],
  message: (m, i) => m.operations.message[i],
  step: (m, i) => m.operations.step[i],
  bytes: (m, i) => m.operations.bytes[i],
  time: (m, i) => m.operations.time[i],
};

const comparisons = {
  "=": (a, b) => a === b,
  ":": (a, b) => a === b,
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
};

const filterUnits = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, b: 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, "": 1 };

// parseWord makes a test of one word; null if it makes no sense.
function parseWord(model, word) {
  const match = /^([a-z]+)([=:<>])(\d+(?:\.\d+)?)([a-zµ]*)$/i.exec(word);
  if (!match) return nameTest(model, word.toLowerCase());
  const field = filterFields[match[1].toLowerCase()];
  const unit = filterUnits[match[4].toLowerCase()];
  if (!field || unit === undefined) return null;
  const compare = comparisons[match[2]], value = Number(match[3]) * unit;
  return (i) => compare(field(model, i), value);
}

// nameTest fits operations whose kind, mark or collective has the word in it.
function nameTest(model, word) {
  if (/[=:<>]/.test(word)) return null;
  const kinds = model.kinds.map((name) => name.includes(word));
  const names = model.header.names.map((name) => name.toLowerCase().includes(word));
  const { kind, collective, aux } = model.operations;
  const mark = kindNumber(model, "mark");
  return (i) => {
    const c = collective[i];
    return kinds[kind[i]] || (c > 0 && names[model.collectives.label[c - 1]]) || (kind[i] === mark && names[aux[i]]);
  };
}

// Filter says how each operation is shown: by its class, dimmed or hidden.
class Filter {
  constructor(model) {
    this.model = model;
    this.hidden = new Set();
    this.group = -1; // index of the group of collectives, -1 for all
    this.tests = [];
    this.shown = model.classOf;
    this.matches = model.operations.n;
  }

  get active() {
    return this.tests.length > 0 || this.group >= 0;
  }

  // setText reads a line of words and tells which make no sense.
  setText(text) {
    const words = text.trim().split(/\s+/).filter(Boolean);
    const tests = words.map((word) => parseWord(this.model, word));
    this.tests = tests.filter(Boolean);
    this.update();
    return words.filter((_, k) => !tests[k]);
  }

  toggle(name, hide) {
    if (hide) this.hidden.add(name);
    else this.hidden.delete(name);
    this.update();
  }

  setGroup(index) {
    this.group = index;
    this.update();
  }

  fits(i) {
    if (this.group >= 0) {
      const c = this.model.operations.collective[i];
      if (c === 0 || this.model.collectives.groupIndex[c - 1] !== this.group) return false;
    }
    return this.tests.every((test) => test(i));
  }

  update() {
    const { classOf, operations } = this.model;
    if (!this.active && this.hidden.size === 0) {
      [this.shown, this.matches] = [classOf, operations.n];
      return;
    }
    const hidden = classes.map((c) => this.hidden.has(c.name));
    this.matches = 0;
    this.shown = classOf.map((c, i) => {
      if (hidden[c]) return hiddenClass;
      if (this.active && !this.fits(i)) return dimClass;
      this.matches++;
      return c;
    });
  }

  // next finds the next operation that fits, in time, from a time on.
  next(time, forward) {
    const { start } = this.model.operations;
    let best = -1;
    for (let i = 0; i < this.shown.length; i++) {
      if (this.shown[i] >= dimClass) continue;
      if (forward ? start[i] <= time : start[i] >= time) continue;
      if (best < 0 || (forward ? start[i] < start[best] : start[i] > start[best])) best = i;
    }
    return best;
  }
}
