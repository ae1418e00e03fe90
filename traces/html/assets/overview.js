// The overview: the whole run in a strip, with the part that the timeline shows
// framed. Dragging in it chooses the part.

class Overview {
  constructor(canvas, model, view, changed) {
    Object.assign(this, { canvas, model, view, changed });
    this.context = canvas.getContext("2d");
    this.picture = null;
    this.listen();
  }

  time(event) {
    const box = this.canvas.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * this.model.end;
  }

  listen() {
    const { canvas, view } = this;
    let anchor = null, moving = false, span = 0;
    canvas.addEventListener("pointerdown", (event) => {
      anchor = this.time(event);
      span = view.to - view.from;
      moving = anchor >= view.from && anchor <= view.to && span < this.model.end * 0.95;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (anchor === null) return;
      const at = this.time(event);
      if (moving) view.show(at - span / 2, at + span / 2);
      else if (Math.abs(at - anchor) > this.model.end / 500) view.show(Math.min(at, anchor), Math.max(at, anchor));
      this.changed();
    });
    canvas.addEventListener("pointerup", (event) => {
      const at = this.time(event);
      if (at === anchor && !moving) view.show(at - span / 2, at + span / 2);
      anchor = null;
      this.changed();
    });
  }

  // shares adds up, per column, how much of the time each class takes.
  shares(columns) {
    const { model, shown } = this, { start, time, n } = model.operations;
    const shares = new Float32Array(columns * classCount), perColumn = model.end / columns;
    for (let i = 0; i < n; i++) {
      const c = shown[i], end = start[i] + time[i];
      let at = start[i];
      for (let column = Math.min(columns - 1, Math.floor(at / perColumn)); column < columns && at < end; column++) {
        const until = Math.min(end, (column + 1) * perColumn);
        shares[column * classCount + c] += (until - at) / perColumn;
        at = until;
      }
    }
    return shares;
  }

  // refresh draws the picture that stays until the filter or the size changes.
  refresh(theme, shown) {
    this.theme = theme;
    this.shown = shown;
    const ratio = devicePixelRatio, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.picture = new OffscreenCanvas(Math.max(1, width), Math.max(1, height));
    const c = this.picture.getContext("2d"), shares = this.shares(Math.max(1, width));
    const most = Math.max(1, this.model.rows.length);
    for (let column = 0; column < width; column++) this.column(c, shares, column, height, most);
  }

  column(c, shares, column, height, most) {
    let y = height;
    for (let k = 0; k <= dimClass; k++) {
      const share = (shares[column * classCount + k] / most) * (height - 2);
      if (share <= 0) continue;
      c.fillStyle = this.theme.classes[k];
      c.fillRect(column, y - share, 1, share);
      y -= share;
    }
  }

  draw() {
    const { context: c, view, theme, model } = this;
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    c.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    c.clearRect(0, 0, width, height);
    if (this.picture) c.drawImage(this.picture, 0, 0);
    const x = (Math.max(0, view.from) / model.end) * width, end = (Math.min(model.end, view.to) / model.end) * width;
    c.fillStyle = theme.accent;
    c.globalAlpha = 0.12;
    c.fillRect(x, 0, end - x, height);
    c.globalAlpha = 1;
    c.strokeStyle = theme.accent;
    c.lineWidth = 1.5;
    c.strokeRect(x + 0.75, 0.75, Math.max(2, end - x - 1.5), height - 1.5);
  }
}
