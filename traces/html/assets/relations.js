// Relations between operations of different ranks: which signal ended a wait,
// which receive took a send, and so which slice a slice came from and led to.

const relationLimit = 8; // neighbours that are followed on each side

// inRank finds, of a rank's operations that fit, the one with the least value.
function inRank(model, rank, fits, value) {
  let best = -1, least = Infinity;
  for (const row of model.rowsOfRank.get(rank) || []) {
    for (let i = row.from; i < row.to; i++) {
      if (!fits(i)) continue;
      const v = value(i);
      if (v < least) [best, least] = [i, v];
    }
  }
  return best;
}

function kindNumber(model, name) {
  return model.kinds.indexOf(name);
}

// signalOf is the signal that a wait waited for, -1 if none is known.
function signalOf(model, wait) {
  const ops = model.operations, rank = model.rowOf(wait).rank, signal = kindNumber(model, "signal");
  const fits = (i) => ops.kind[i] === signal && ops.aux[i] === ops.aux[wait] && ops.bytes[i] >= ops.bytes[wait] && model.peerOf(i) === rank;
  return inRank(model, model.peerOf(wait), fits, (i) => model.endOf(i));
}

// waitOf is the first wait that a signal let go on, -1 if none is known.
function waitOf(model, signal) {
  const ops = model.operations, rank = model.rowOf(signal).rank, wait = kindNumber(model, "wait");
  const fits = (i) => ops.kind[i] === wait && ops.aux[i] === ops.aux[signal] && ops.bytes[i] <= ops.bytes[signal] &&
    model.peerOf(i) === rank && model.endOf(i) >= ops.start[signal];
  return inRank(model, model.peerOf(signal), fits, (i) => model.endOf(i));
}

// counterpartOf is the other end of a send or a receive, -1 if it is missing.
// Of several alike, the one nearest in time of completion is taken.
function counterpartOf(model, i) {
  const ops = model.operations, rank = model.rowOf(i).rank;
  const kind = kindNumber(model, model.kindOf(i) === "send" ? "recv" : "send");
  const same = ["collective", "chunk", "flow", "slice", "message", "bytes"];
  const fits = (k) => ops.kind[k] === kind && model.peerOf(k) === rank && same.every((name) => ops[name][k] === ops[name][i]);
  return inRank(model, model.peerOf(i), fits, (k) => Math.abs(model.endOf(k) - model.endOf(i)));
}

// neighbours lists the operations of one kind that stand directly before (step
// -1) or behind (step 1) an operation in its lane.
function neighbours(model, i, step, kind) {
  const lane = model.laneOf(i), found = [];
  for (let k = i + step; k >= lane.from && k < lane.to && found.length < relationLimit; k += step) {
    if (model.kindOf(k) !== kind) break;
    found.push(k);
  }
  return found;
}

// worker is the operation next to a signal or wait that does the work: before a
// signal, behind a wait. It is the signal or wait itself if there is none.
function worker(model, i, step) {
  const lane = model.laneOf(i), own = model.kindOf(i);
  let k = i + step;
  while (k >= lane.from && k < lane.to && model.kindOf(k) === own) k += step;
  const inLane = k >= lane.from && k < lane.to;
  return inLane && model.operations.collective[k] === model.operations.collective[i] ? k : i;
}

// sourcesOf lists the operations of other ranks that an operation waited for.
function sourcesOf(model, i) {
  const kind = model.kindOf(i);
  if (kind === "recv") return [counterpartOf(model, i)].filter((k) => k >= 0);
  const waits = kind === "wait" ? [i] : neighbours(model, i, -1, "wait");
  return waits.map((w) => signalOf(model, w)).filter((s) => s >= 0).map((s) => worker(model, s, -1));
}

// targetsOf lists the operations of other ranks that waited for an operation.
function targetsOf(model, i) {
  const kind = model.kindOf(i);
  if (kind === "send") return [counterpartOf(model, i)].filter((k) => k >= 0);
  const signals = kind === "signal" ? [i] : neighbours(model, i, 1, "signal");
  return signals.map((s) => waitOf(model, s)).filter((w) => w >= 0).map((w) => worker(model, w, 1));
}

// flowOf finds the flow that an operation is a message of, -1 for none.
function flowOf(model, i) {
  const ops = model.operations, flows = model.flows, c = ops.collective[i] - 1, peer = model.peerOf(i);
  if (c < 0 || peer < 0) return -1;
  const rank = model.rowOf(i).rank, kind = model.kindOf(i);
  const pushes = kind === "put" || kind === "send";
  if (!pushes && kind !== "get" && kind !== "recv" && kind !== "reduce") return -1;
  const [source, dest] = pushes ? [rank, peer] : [peer, rank];
  for (let f = model.flowsFrom[c]; f < model.flowsFrom[c + 1]; f++) {
    if (flows.chunk[f] === ops.chunk[i] && flows.source[f] === source && flows.dest[f] === dest && flows.flow[f] === ops.flow[i] &&
      (kind === "send" || flows.step[f] === ops.step[i])) return f;
  }
  return -1;
}
