// Input: pointer, wheel and keys of the timeline.

function listenToPointer(timeline) {
  const { canvas, view } = timeline;
  let grip = null;
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = point(event);
    grip = { x, y, from: view.from, to: view.to, scroll: view.scroll, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = point(event);
    if (!grip) return timeline.hover(x, y, event);
    grip.moved = grip.moved || Math.abs(x - grip.x) + Math.abs(y - grip.y) > 3;
    if (!grip.moved) return;
    timeline.leave();
    const by = (grip.x - x) / view.scale;
    view.show(grip.from + by, grip.to + by);
    view.scrollTo(grip.scroll + grip.y - y);
    timeline.draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    const [x, y] = point(event);
    if (grip && !grip.moved) timeline.select(view.operationAt(x, y));
    grip = null;
  });
  canvas.addEventListener("pointercancel", () => (grip = null));
  canvas.addEventListener("pointerleave", () => timeline.leave());
  canvas.addEventListener("dblclick", (event) => zoomTo(timeline, ...point(event)));
}

// zoomTo shows an operation with its surroundings, or a collective.
function zoomTo(timeline, x, y) {
  const { view, model } = timeline, i = view.operationAt(x, y), c = timeline.collectiveAt(x, y);
  if (i >= 0) {
    const middle = model.operations.start[i] + model.operations.time[i] / 2, half = Math.max(50, model.operations.time[i] * 4);
    view.show(middle - half, middle + half);
  } else if (c >= 0) {
    const { start, cct } = model.collectives;
    view.show(start[c] - cct[c] * 0.04, start[c] + cct[c] * 1.04);
  }
  timeline.draw();
}

// listenToWheel zooms with Ctrl, as maps and other timelines do; without it the
// page or the rows scroll.
function listenToWheel(timeline) {
  const { canvas, view } = timeline;
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      const x = event.clientX - canvas.getBoundingClientRect().left;
      view.zoom(Math.exp(-event.deltaY * 0.002), view.time(Math.max(gutterWidth, x)));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan((event.deltaX || event.deltaY) / view.plotWidth);
    } else {
      const before = view.scroll;
      view.scrollTo(before + event.deltaY);
      if (view.scroll === before) return;
    }
    event.preventDefault();
    timeline.draw();
  }, { passive: false });
}

// keyActions are what the keys of the timeline do.
const keyActions = {
  w: (t) => t.view.zoom(1.5),
  s: (t) => t.view.zoom(1 / 1.5),
  a: (t) => t.view.pan(-0.2),
  d: (t) => t.view.pan(0.2),
  "+": (t) => t.view.zoom(1.5),
  "=": (t) => t.view.zoom(1.5),
  "-": (t) => t.view.zoom(1 / 1.5),
  ArrowLeft: (t) => t.view.pan(-0.2),
  ArrowRight: (t) => t.view.pan(0.2),
  ArrowUp: (t) => t.view.scrollTo(t.view.scroll - 40),
  ArrowDown: (t) => t.view.scrollTo(t.view.scroll + 40),
  f: (t) => t.view.showAll(),
  "0": (t) => t.view.showAll(),
  "[": (t) => t.showCollective(-1),
  "]": (t) => t.showCollective(1),
  m: showSlowest,
  ",": (t) => t.step(-1),
  ".": (t) => t.step(1),
  n: (t) => t.find(true),
  p: (t) => t.find(false),
  Escape: (t) => t.select(-1),
};

// listenToKeys acts on keys wherever the focus is, but in fields and on what
// has keys of its own.
function listenToKeys(timeline) {
  document.addEventListener("keydown", (event) => {
    const inField = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || inField) return;
    if (event.key === "/") {
      event.preventDefault();
      return timeline.page.search.focus();
    }
    const arrow = event.key.startsWith("Arrow");
    const action = keyActions[event.key];
    if (!action || (arrow && document.activeElement !== timeline.canvas)) return;
    event.preventDefault();
    action(timeline);
    timeline.draw();
  });
}
