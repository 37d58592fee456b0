// What scrolls: wide boxes are reached by the keyboard, and the list of chapters shows where the reader is.
(() => {
  "use strict";
  const kinds = ".equation-body, .highlight pre, .table-wrapper, .scratchbook-figure";
  const boxes = [...document.querySelectorAll(kinds)];
  const reach = (seen) => {
    const wide = seen.map((box) => box.scrollWidth > box.clientWidth); // before any change: one layout, not one a box
    seen.forEach((box, at) => (wide[at] ? (box.tabIndex = 0) : box.removeAttribute("tabindex")));
  };
  const watch = new ResizeObserver((seen) => reach(seen.map(({ target }) => target)));
  boxes.forEach((box) => watch.observe(box));
  document.fonts.ready.then(() => reach(boxes));
  // The browser passes over what is far below (see the style sheet), and knows how wide it is once it has drawn it.
  const drawn = ({ target, skipped }) => skipped || reach(boxes.filter((box) => box.contains(target)));
  document.addEventListener("contentvisibilityautostatechange", drawn);
  // What was passed over is drawn once there is time, a little at once: a picture of the whole page, or a copy of it,
  // has no blanks.  A keyboard goes from box to box at once, also to those that were never on the screen.
  const skipped = [".equation-list", ".katex-html[style], .highlight pre"].flatMap((kind) => [...document.querySelectorAll(kind)]);
  let parts = [];
  const draw = (count) => {
    parts = skipped.splice(0, count);
    parts.forEach((part) => part.classList.add("drawn"));
  };
  const whenIdle = window.requestIdleCallback || ((work) => setTimeout(work, 50));
  const drawMore = () => {
    reach(parts.map((part) => part.closest(kinds)).filter(Boolean)); // by now they are laid out, which costs a slow machine most
    draw(1);
    if (parts.length) whenIdle(drawMore);
  };
  addEventListener("load", () => whenIdle(drawMore));
  const drawAll = ({ key }) => {
    if (key !== "Tab") return;
    draw(skipped.length);
    reach(boxes);
    removeEventListener("keydown", drawAll, true);
  };
  addEventListener("keydown", drawAll, true);

  const entry = document.querySelector(".sidebar-tree .current-page");
  const list = entry?.closest(".sidebar-scroll");
  if (list) list.scrollTop += entry.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
})();
