// The payload: a header and tables, column by column, in the order in which
// traces/htmltables.go writes them.

function bytesOfBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Columns reads what Go's html.Columns writes. Numbers may be larger than 32
// bits, so they are put together by multiplication.
class Columns {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  number() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let unit = 128; byte >= 128; unit *= 128) {
      byte = bytes[this.at++];
      value += (byte & 127) * unit;
    }
    return value;
  }

  text() {
    const length = this.number();
    const part = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return new TextDecoder().decode(part);
  }

  numbers(n) {
    const column = new Float64Array(n);
    for (let i = 0; i < n; i++) column[i] = this.number();
    return column;
  }

  differences(n) {
    const column = new Uint32Array(n);
    let last = 0;
    for (let i = 0; i < n; i++) {
      const z = this.number();
      last += z % 2 ? -(z + 1) / 2 : z / 2;
      column[i] = last;
    }
    return column;
  }

  octets(n) {
    const column = this.bytes.slice(this.at, this.at + n);
    this.at += n;
    return column;
  }
}

function readCollectives(r, n) {
  return {
    n, start: r.numbers(n), cct: r.numbers(n), bytes: r.numbers(n), label: r.differences(n), sequence: r.differences(n),
    group: r.differences(n), ranks: r.differences(n), sliceBytes: r.differences(n), straggler: r.differences(n), flags: r.octets(n),
  };
}

function readParts(r, n) {
  return { n, collective: r.differences(n), rank: r.differences(n), start: r.numbers(n), time: r.numbers(n), wait: r.numbers(n) };
}

function readOperations(r, n) {
  return {
    n, start: r.numbers(n), time: r.numbers(n), bytes: r.numbers(n), collective: r.differences(n), chunk: r.differences(n),
    slice: r.differences(n), message: r.differences(n), flow: r.differences(n), step: r.differences(n), peer: r.differences(n),
    aux: r.differences(n), kind: r.octets(n), status: r.octets(n),
  };
}

function readFlows(r, n) {
  return {
    n, collective: r.differences(n), chunk: r.differences(n), step: r.differences(n), source: r.differences(n), dest: r.differences(n),
    flow: r.differences(n), messages: r.differences(n), start: r.numbers(n), time: r.numbers(n), bytes: r.numbers(n),
  };
}

function readSlices(r, n) {
  return { n, collective: r.differences(n), time: r.numbers(n) };
}

function readSegments(r, n) {
  return { n, collective: r.differences(n), rank: r.differences(n), start: r.numbers(n), time: r.numbers(n), kind: r.differences(n) };
}

// readPayload gives the header and the tables.
async function readPayload(text) {
  const r = new Columns(await inflate(bytesOfBase64(text)));
  const header = JSON.parse(r.text());
  return {
    header,
    collectives: readCollectives(r, header.collectives),
    parts: readParts(r, header.parts),
    operations: readOperations(r, header.operations),
    flows: readFlows(r, header.flows),
    slices: readSlices(r, header.slices),
    segments: readSegments(r, header.segments),
  };
}
