// Statistics: times of one term, of the collectives that count.

// terms are what distributions can be of.
const distributionTerms = {
  FCT: { title: "flow completion time", of: (m, keep) => kept(m.flows.time, m.flows.collective, keep) },
  slice: { title: "time of a slice", of: (m, keep) => kept(m.slices.time, m.slices.collective, keep) },
  RCCT: { title: "rank-chunk completion time", of: rankChunkTimes },
  CCT: { title: "collective completion time", of: collectiveTimes },
};

function kept(times, collective, keep) {
  return times.filter((_, i) => keep(collective[i]));
}

function collectiveTimes(model, keep) {
  return model.collectives.cct.filter((_, c) => keep(c));
}

// rankChunkTimes puts the flows of a transfer together, which stand next to
// each other.
function rankChunkTimes(model, keep) {
  const f = model.flows, times = [], same = ["collective", "chunk", "step", "source", "dest"];
  for (let i = 0, k; i < f.n; i = k) {
    let start = f.start[i], end = start + f.time[i];
    for (k = i + 1; k < f.n && same.every((name) => f[name][k] === f[name][i]); k++) {
      start = Math.min(start, f.start[k]);
      end = Math.max(end, f.start[k] + f.time[k]);
    }
    if (keep(f.collective[i])) times.push(end - start);
  }
  return Float64Array.from(times);
}

// keeper says which collectives count: of a group or of all.
function keeper(model, group) {
  return (c) => model.counts(c) && (group < 0 || model.collectives.groupIndex[c] === group);
}

// percentile is by nearest rank, as in the summary.
function percentile(sorted, percent) {
  return sorted[Math.max(1, Math.ceil((sorted.length * percent) / 100)) - 1];
}

// pairTable adds up the flows of each pair of ranks. Ranks beyond limit share
// cells, so that the table stays readable.
function pairTable(model, keep, limit) {
  const f = model.flows, share = Math.ceil(model.header.ranks / limit) || 1, n = Math.ceil(model.header.ranks / share);
  const cells = Array.from({ length: n * n }, () => ({ bytes: 0, times: [], rates: [] }));
  for (let i = 0; i < f.n; i++) {
    if (!keep(f.collective[i])) continue;
    const cell = cells[Math.floor(f.source[i] / share) * n + Math.floor(f.dest[i] / share)];
    cell.bytes += f.bytes[i];
    cell.times.push(f.time[i]);
    if (f.time[i] > 0) cell.rates.push(f.bytes[i] / f.time[i]);
  }
  return { n, share, cells };
}

function median(values) {
  return values.length ? percentile(Float64Array.from(values).sort(), 50) : 0;
}
