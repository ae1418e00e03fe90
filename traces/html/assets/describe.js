// Operations and collectives in words, in the field's terms.

function rowName(row) {
  if (row.stream < 0) return "marks";
  return row.stream === 0 ? "guest" : `stream ${row.stream}`;
}

// direction says between which ranks bytes or signals go.
function direction(model, i) {
  const rank = model.rowOf(i).rank, peer = model.peerOf(i);
  if (peer < 0) return `rank ${rank}`;
  const pushes = ["put", "send", "signal"].includes(model.kindOf(i));
  return pushes ? `rank ${rank} → ${peer}` : `rank ${rank} ← ${peer}`;
}

// carries reports whether the bytes field of an operation is a payload.
function carries(model, i) {
  const kind = model.kindOf(i);
  return model.operations.bytes[i] > 0 && !["signal", "wait", "mark"].includes(kind) && classes[model.classOf[i]].name !== "guest";
}

// shortNames can stand in an operation, the longest first.
function shortNames(model, i) {
  const ops = model.operations, kind = model.kindOf(i), peer = model.peerOf(i);
  if (kind === "mark") return [model.header.names[ops.aux[i]]];
  if (kind === "signal") return [`signal to ${peer}`, "signal"];
  if (kind === "wait") return [`wait for ${peer}`, "wait"];
  if (!carries(model, i) || !ops.collective[i]) return [kind];
  return [`${kind} chunk ${ops.chunk[i]} slice ${ops.slice[i]}`, `${kind} ${ops.chunk[i]}/${ops.slice[i]}`, kind];
}

function titleOf(model, i) {
  const kind = model.kindOf(i);
  const name = kind === "mark" ? `mark ${model.header.names[model.operations.aux[i]]}` : kind.replaceAll("_", " ");
  return carries(model, i) ? `${name} ${formatBytes(model.operations.bytes[i])}` : name;
}

// termsOf lists what is known of an operation, as pairs of name and value.
function termsOf(model, i) {
  const ops = model.operations, terms = [];
  const add = (name, value) => terms.push([name, value]);
  add("where", `${direction(model, i)}, ${rowName(model.rowOf(i))}`);
  if (ops.collective[i]) addPlace(model, i, add);
  if (carries(model, i)) add("bytes", bytesAndRate(ops.bytes[i], ops.time[i]));
  addWait(model, i, add);
  add("time", `${formatTime(ops.time[i])} from ${formatMoment(ops.start[i])} on`);
  addFlow(model, i, add);
  if (ops.status[i]) add("status", ["ok", "failed", "timeout", "aborted"][ops.status[i]] || "failed");
  return terms;
}

function bytesAndRate(bytes, nanos) {
  const exact = bytes >= 1024 ? ` (${formatCount(bytes)})` : "";
  return nanos > 0 ? `${formatBytes(bytes)}${exact}, ${formatRate(bytes / nanos)}` : formatBytes(bytes) + exact;
}

function addPlace(model, i, add) {
  const ops = model.operations, c = ops.collective[i] - 1;
  add("collective", model.collectiveName(c));
  const sinceBegin = ops.start[i] - model.collectives.start[c];
  add("begins", `${formatTime(sinceBegin)} into its ${formatTime(model.collectives.cct[c])} (CCT)`);
  const numbers = ["chunk", "slice", "flow", "message", "step"].map((name) => `${name} ${ops[name][i]}`);
  add("place", numbers.join(" · "));
}

// addWait says what a wait waited for, or what a signal said.
function addWait(model, i, add) {
  const kind = model.kindOf(i), ops = model.operations, peer = model.peerOf(i);
  if (kind === "signal") add("raises", `slot ${ops.aux[i]} at rank ${peer} to ${formatCount(ops.bytes[i])}`);
  if (kind !== "wait") return;
  add("waits for", `rank ${peer} to raise slot ${ops.aux[i]} to ${formatCount(ops.bytes[i])}`);
  const signal = signalOf(model, i);
  if (signal < 0) return add("raised", "no record of it");
  const before = ops.start[i] - model.endOf(signal);
  add("raised", before >= 0 ? `${formatTime(before)} before the wait began` : `${formatTime(-before)} into the wait`);
}

function addFlow(model, i, add) {
  const f = flowOf(model, i);
  if (f < 0) return;
  const { time, messages, bytes, source, dest } = model.flows;
  add("its flow", `${source[f]} → ${dest[f]}, FCT ${formatTime(time[f])}, ${formatCount(messages[f])} messages, ${bytesAndRate(bytes[f], time[f])}`);
}

// collectiveTerms lists what is known of a collective.
function collectiveTerms(model, c) {
  const t = model.collectives, flags = t.flags[c];
  const terms = [["CCT", formatTime(t.cct[c])], ["size", `${formatBytes(t.bytes[c])} on ${t.ranks[c]} ranks`]];
  if (t.sliceBytes[c]) terms.push(["slices of", formatBytes(t.sliceBytes[c])]);
  if (t.straggler[c]) terms.push(["busy longest", `rank ${t.straggler[c] - 1}`]);
  if (flags & warmupFlag) terms.push(["warm-up", "does not count"]);
  if (!(flags & completeFlag)) terms.push(["incomplete", "not every rank ended it"]);
  if (flags & disagreeingFlag) terms.push(["desync", "ranks disagree on it"]);
  return terms;
}

// element makes a DOM element; children are elements or text, which is never
// read as markup.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// card shows a title and terms.
function card(target, title, terms) {
  const list = element("dl", {}, ...terms.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  target.replaceChildren(element("strong", {}, title), list);
}
