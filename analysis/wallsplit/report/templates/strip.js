const clock = (ns) => `${(ns / 1e9).toFixed(9).replace(/0+$/, "").replace(/\.$/, "")}s`;
for (const strip of document.querySelectorAll("svg.strip")) {
  const start = Number(strip.dataset.start);
  const end = Number(strip.dataset.end);
  const said = strip.closest("figure").querySelector(".picked");
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  mark.setAttribute("class", "mark");
  mark.setAttribute("height", strip.dataset.height);
  let from = null;
  const place = (event) => {
    const box = strip.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const show = (a, b) => {
    mark.setAttribute("x", `${a * 100}%`);
    mark.setAttribute("width", `${(b - a) * 100}%`);
  };
  const time = (share) => {
    const step = 10 ** Math.max(0, Math.floor(Math.log10((end - start) / 2000)));
    return Math.min(end, Math.max(start, Math.round((start + share * (end - start)) / step) * step));
  };
  strip.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = place(event);
    strip.setPointerCapture(event.pointerId);
    strip.append(mark);
    show(from, from);
  });
  strip.addEventListener("pointermove", (event) => {
    if (from !== null) show(Math.min(from, place(event)), Math.max(from, place(event)));
  });
  strip.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const [a, b] = [from, place(event)].sort((x, y) => x - y).map(time);
    from = null;
    if (a === b) {
      mark.remove();
      return;
    }
    const option = `--window ${clock(a)}:${clock(b)}`;
    said.textContent = option;
    navigator.clipboard?.writeText(option).then(
      () => (said.textContent = `${option} – copied`),
      () => {},
    );
  });
}
for (const button of document.querySelectorAll("button.copy")) {
  const source = button.closest("details")?.querySelector("code") ?? document.querySelector("pre.summary");
  button.hidden = false;
  button.addEventListener("click", () => {
    navigator.clipboard?.writeText(source.textContent).then(
      () => (button.textContent = "Copied"),
      () => {},
    );
  });
}
