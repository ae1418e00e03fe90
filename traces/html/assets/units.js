// Values for people: three significant digits in the largest unit that leaves
// at least 1.

const timeUnits = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
const byteUnits = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]];

function significant(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function inUnits(value, units) {
  const [unit, size] = units.find(([, size]) => Math.abs(value) >= size * 0.9995) || units[units.length - 1];
  return significant(value / size) + " " + unit;
}

const formatTime = (nanos) => inUnits(nanos, timeUnits);
const formatBytes = (bytes) => inUnits(bytes, byteUnits);
const formatRate = (bytesPerNano) => significant(bytesPerNano) + " GB/s";
const formatCount = (n) => n.toLocaleString("en-US");

// formatMoment writes a point in time to 100 nanoseconds.
function formatMoment(nanos) {
  const [unit, size] = timeUnits.find(([, size]) => nanos >= size) || timeUnits[3];
  return (nanos / size).toFixed(Math.max(0, Math.round(Math.log10(size)) - 2)) + " " + unit;
}

// formatAt writes a point in time with enough digits to tell it from one that
// is resolution nanoseconds away.
function formatAt(nanos, resolution) {
  const [unit, size] = timeUnits.find(([, size]) => resolution * 10 >= size) || timeUnits[3];
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(resolution / size))));
  return (nanos / size).toFixed(decimals) + " " + unit;
}
