// The chart of a distribution: a histogram over a logarithmic axis, and the
// share of values up to each point (CDF).

const chartWidth = 640, chartHeight = 250;
const plot = { left: 46, right: chartWidth - 46, top: 16, bottom: chartHeight - 34 };

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Axis maps times to the width of the plot, by their logarithms.
class Axis {
  constructor(least, most) {
    const low = Math.log10(Math.max(1, least)), high = Math.log10(Math.max(1, most));
    const margin = Math.max(0.02, 0.06 - (high - low) / 2);
    this.low = low - margin;
    this.high = high + margin;
  }

  x(time) {
    return plot.left + ((Math.log10(Math.max(1, time)) - this.low) / (this.high - this.low)) * (plot.right - plot.left);
  }

  // ticks are round times, some six of them.
  ticks() {
    const found = [];
    const wide = this.high - this.low > 1.2;
    for (let power = Math.floor(this.low); power <= this.high; power++) {
      for (const k of wide ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]) found.push(k * 10 ** power);
    }
    const inside = found.filter((t) => Math.log10(t) >= this.low && Math.log10(t) <= this.high);
    const step = Math.ceil(inside.length / 7);
    return inside.filter((_, i) => i % step === 0);
  }
}

function y(share) {
  return plot.bottom - share * (plot.bottom - plot.top);
}

// histogram counts sorted values in bins of equal width on the axis.
function histogram(sorted, axis, bins) {
  const counts = new Array(bins).fill(0);
  for (const value of sorted) {
    const at = (axis.x(value) - plot.left) / (plot.right - plot.left);
    counts[Math.max(0, Math.min(bins - 1, Math.floor(at * bins)))]++;
  }
  return counts;
}

function bars(sorted, axis) {
  const bins = 56, counts = histogram(sorted, axis, bins), most = Math.max(...counts), width = (plot.right - plot.left) / bins;
  return counts.flatMap((count, k) => {
    if (count === 0) return [];
    const top = y((count / most) * 0.97), x = plot.left + k * width;
    const title = svg("title", {}, `${formatCount(count)} of ${formatCount(sorted.length)}`);
    return [svg("rect", { class: "bar", x: x + 0.5, y: top, width: width - 1, height: plot.bottom - top }, title)];
  });
}

// cumulative is the CDF, at some two hundred points.
function cumulative(sorted, axis) {
  const n = sorted.length, points = [`M${axis.x(sorted[0]).toFixed(1)} ${y(0).toFixed(1)}`], count = Math.min(n, 200);
  for (let k = 1; k <= count; k++) {
    const at = Math.ceil((k / count) * n);
    points.push(`L${axis.x(sorted[at - 1]).toFixed(1)} ${y(at / n).toFixed(1)}`);
  }
  return svg("path", { class: "cdf", d: points.join("") });
}

function axes(axis) {
  const parts = [svg("line", { class: "axis", x1: plot.left, x2: plot.right, y1: plot.bottom, y2: plot.bottom })];
  for (const time of axis.ticks()) {
    parts.push(svg("line", { class: "axis", x1: axis.x(time), x2: axis.x(time), y1: plot.bottom, y2: plot.bottom + 4 }));
    parts.push(svg("text", { x: axis.x(time), y: plot.bottom + 17, "text-anchor": "middle" }, formatTime(Number(time.toPrecision(3)))));
  }
  for (const share of [0, 0.5, 1]) {
    parts.push(svg("line", { class: "grid", x1: plot.left, x2: plot.right, y1: y(share), y2: y(share) }));
    parts.push(svg("text", { x: plot.right + 6, y: y(share) + 4 }, `${share * 100} %`));
  }
  return parts;
}

function percentileLine(sorted, axis, percent, height) {
  const value = percentile(sorted, percent), x = axis.x(value), right = x > plot.right - 110;
  return [
    svg("line", { class: "percentile", x1: x, x2: x, y1: plot.top - 8, y2: plot.bottom }),
    svg("text", { class: "percentile-name", x: x + (right ? -5 : 5), y: plot.top + height, "text-anchor": right ? "end" : "start" },
      `p${percent} ${formatTime(value)}`),
  ];
}

// drawDistribution fills the chart and its line of figures.
function drawDistribution(target, figures, name, times) {
  const sorted = times.slice().sort();
  target.toggleAttribute("hidden", sorted.length === 0);
  if (sorted.length === 0) {
    figures.replaceChildren("Nothing was recorded of it.");
    return;
  }
  const axis = new Axis(sorted[0], sorted[sorted.length - 1]);
  target.setAttribute("aria-label", `Distribution of ${distributionTerms[name].title}: p50 ${formatTime(percentile(sorted, 50))}, p99 ${formatTime(percentile(sorted, 99))}`);
  target.replaceChildren(...axes(axis), ...bars(sorted, axis), cumulative(sorted, axis),
    ...percentileLine(sorted, axis, 50, 2), ...percentileLine(sorted, axis, 99, 16));
  const points = [["n", formatCount(sorted.length)], ["min", formatTime(sorted[0])]];
  for (const p of [50, 95, 99]) points.push([`p${p}`, formatTime(percentile(sorted, p))]);
  points.push(["max", formatTime(sorted[sorted.length - 1])]);
  figures.replaceChildren(...points.map(([key, value]) => element("span", {}, element("b", {}, key), " " + value)));
}
