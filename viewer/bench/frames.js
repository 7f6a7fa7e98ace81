// Frames a second while somebody moves over a map or drags it: one function, for a browser test to run in the page.
//
// `steps` turns of the wheel come before (0: the whole map); `drag` false moves the crosshair. Resolves to the frames a
// second, and the median, 95th percentile and longest time between two frames in milliseconds.
async ({ steps = 0, drag = true, frames = 150 }) => {
  const stage = document.querySelector(".map-stage");
  const box = stage.getBoundingClientRect();
  const [middleX, middleY] = [box.width * 0.55, box.height * 0.55];
  stage.setPointerCapture = () => {};
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const pointer = (type, x, y, buttons) => {
    const place = { clientX: box.left + x, clientY: box.top + y, pointerId: 1, pointerType: "mouse", button: 0, buttons };
    stage.dispatchEvent(new PointerEvent(type, { ...place, bubbles: true }));
  };
  for (let step = 0; step < steps; step++) {
    const place = { clientX: box.left + middleX, clientY: box.top + middleY };
    stage.dispatchEvent(new WheelEvent("wheel", { ...place, deltaY: -50, ctrlKey: true, bubbles: true, cancelable: true }));
    await frame();
  }
  while (stage.getAttribute("aria-busy") === "true") await frame();
  if (drag) pointer("pointerdown", middleX, middleY, 1);
  const times = [];
  let last = performance.now();
  for (let index = 0; index < frames; index++) {
    const angle = index / 25;
    pointer("pointermove", middleX + Math.sin(angle) * 150, middleY + Math.cos(angle * 0.7) * 150, drag ? 1 : 0);
    await frame();
    times.push(performance.now() - last);
    last = performance.now();
  }
  pointer("pointerup", middleX, middleY, 0);
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor((frames - 1) * share)];
  const total = times.reduce((sum, time) => sum + time, 0);
  return { perSecond: (1000 * frames) / total, median: at(0.5), slow: at(0.95), slowest: at(1) };
};
