// Densities: how much of a range of operations each class takes. Sums over
// blocks make it cheap for a pixel that stands for thousands of operations.

const blockShift = 4;

class Density {
  constructor(model, shown) {
    this.time = model.operations.time;
    this.shown = shown;
    this.sums = this.sumBlocks();
    this.result = new Float64Array(classCount);
  }

  // sumBlocks holds, for each block, what the blocks before it add up to.
  sumBlocks() {
    const { time, shown } = this, n = time.length;
    const sums = new Float64Array(((n >> blockShift) + 2) * classCount);
    for (let i = 0, at = 0; i < n; i++) {
      if ((i & 15) === 0) {
        at += classCount;
        for (let c = 0; c < classCount; c++) sums[at + c] = sums[at - classCount + c];
      }
      sums[at + shown[i]] += time[i] + 1;
    }
    return sums;
  }

  // of gives the nanoseconds of each class in [from, to).
  of(from, to) {
    const { time, shown, sums, result } = this;
    result.fill(0);
    const first = (from + 15) >> blockShift, last = to >> blockShift;
    if (last <= first) {
      for (let i = from; i < to; i++) result[shown[i]] += time[i] + 1;
      return result;
    }
    for (let i = from; i < first << blockShift; i++) result[shown[i]] += time[i] + 1;
    for (let i = last << blockShift; i < to; i++) result[shown[i]] += time[i] + 1;
    for (let c = 0; c < classCount; c++) result[c] += sums[last * classCount + c] - sums[first * classCount + c];
    return result;
  }
}

// heaviest is the class that takes most, of those that the filter leaves; what
// is dimmed counts if there is nothing else, and nothing gives -1.
function heaviest(sums) {
  let best = -1;
  for (let c = 0; c < dimClass; c++) {
    if (sums[c] > 0 && (best < 0 || sums[c] > sums[best])) best = c;
  }
  return best >= 0 || sums[dimClass] === 0 ? best : dimClass;
}
