// The heat map: a cell per pair of ranks, from the row's rank to the column's.

const heatLimit = 32; // rows and columns

const heatMeasures = {
  bytes: { title: "bytes moved", value: (cell) => cell.bytes, format: formatBytes },
  fct: { title: "median FCT", value: (cell) => median(cell.times), format: formatTime },
  rate: { title: "median GB/s of a flow", value: (cell) => median(cell.rates), format: (v) => formatRate(v) },
};

function rankName(table, k) {
  const last = (k + 1) * table.share - 1;
  return table.share === 1 ? String(k) : `${k * table.share}–${last}`;
}

// drawHeat fills the table. Colour stands for the share of the largest value,
// so that a slow pair is dark by FCT and pale by rate.
function drawHeat(target, model, group, measureName) {
  const table = pairTable(model, keeper(model, group), heatLimit), measure = heatMeasures[measureName];
  const values = table.cells.map((cell) => (cell.times.length ? measure.value(cell) : null));
  const most = Math.max(...values.filter((v) => v !== null), 0);
  const caption = element("caption", {}, `${measure.title}, from the row's rank to the column's`);
  const head = element("tr", {}, element("th", { scope: "col" }, "from \\ to"));
  for (let k = 0; k < table.n; k++) head.append(element("th", { scope: "col" }, rankName(table, k)));
  const rows = [];
  for (let k = 0; k < table.n; k++) rows.push(heatRow(table, k, values, measure, most));
  target.classList.toggle("dense", table.n > 10);
  target.replaceChildren(caption, element("thead", {}, head), element("tbody", {}, ...rows));
}

function heatRow(table, from, values, measure, most) {
  const row = element("tr", {}, element("th", { scope: "row" }, rankName(table, from)));
  for (let to = 0; to < table.n; to++) {
    const value = values[from * table.n + to];
    const cell = element("td", {}, value === null ? "·" : measure.format(value));
    if (value !== null) {
      const share = most > 0 ? value / most : 0;
      cell.style.setProperty("--share", share.toFixed(3));
      cell.className = share > 0.55 ? "heat strong" : "heat";
      cell.title = `rank ${rankName(table, from)} → ${rankName(table, to)}: ${measure.format(value)}, ${formatCount(table.cells[from * table.n + to].times.length)} flows`;
    }
    row.append(cell);
  }
  return row;
}
