/* Previews of what a link leads to, "/" for search, formulas that copy as TeX.  Every page is complete without. */
(() => {
  "use strict";
  const all = (selector, inside = document) => inside.querySelectorAll(selector);
  const article = document.querySelector("[role=main]") || document.body;
  const kinds = ".equation, .math-wrapper, .literal-block-wrapper, figure, .citation, .footnote, table, .exercise";
  let shown, owner, timer;

  const find = (link) => {
    const url = new URL(link.href);
    const id = decodeURIComponent(url.hash.slice(1));
    if (!id) return;
    if (url.pathname !== location.pathname) {
      const kept = document.querySelector(`template[data-preview="${CSS.escape(link.getAttribute("href"))}"]`);
      return kept && kept.content.cloneNode(true);
    }
    const target = document.getElementById(id);
    const box = target && (target.matches(kinds) ? target : target.querySelector(`:scope > :is(${kinds})`));
    if (!box || box.contains(link)) return;
    const copy = box.cloneNode(true);
    for (const element of [copy, ...all("[id]", copy)]) element.removeAttribute("id");
    return copy;
  };

  const hide = () => {
    clearTimeout(timer);
    if (!shown) return;
    shown.remove();
    owner.removeAttribute("aria-describedby");
    shown = owner = null;
  };

  const show = (link) => {
    const content = find(link);
    hide();
    if (!content) return;
    shown = document.createElement("div");
    shown.className = shown.id = "book-preview";
    shown.setAttribute("role", "tooltip");
    shown.append(content);
    document.body.append(shown);
    const line = link.getClientRects()[0];
    const height = shown.offsetHeight + 8;
    const left = Math.min(line.left, innerWidth - shown.offsetWidth - 24);
    const fits = line.bottom + height < innerHeight || line.top < height;
    shown.style.left = Math.max(8, left) + scrollX + "px";
    shown.style.top = scrollY + (fits ? line.bottom + 6 : line.top - height + 2) + "px";
    owner = link;
    link.setAttribute("aria-describedby", shown.id);
    shown.onmouseenter = () => clearTimeout(timer);
    shown.onmouseleave = hide;
  };

  const later = (action, wait, link) => {
    clearTimeout(timer);
    timer = setTimeout(action, wait, link);
  };
  const linkOf = (event) => event.target.closest("a.internal[href*='#'], a.equation-mark");
  article.addEventListener("mouseover", (event) => {
    const link = linkOf(event);
    if (link && link !== owner) later(show, 200, link);
  });
  article.addEventListener("mouseout", (event) => linkOf(event) && later(hide, 250));
  article.addEventListener("focusin", (event) => event.target.matches("a:focus-visible") && linkOf(event) && show(linkOf(event)));
  article.addEventListener("focusout", hide);

  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const box = article.querySelector("input[name=q]") || document.querySelector("input[name=q]");
    const typing = event.target.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || !box) return;
    event.preventDefault();
    const drawer = document.getElementById("__navigation");
    if (drawer && box.getBoundingClientRect().right <= 0) drawer.checked = true;
    box.focus();
  });

  for (const [selector, label] of [[".sidebar-drawer", "Chapters"], [".footnote-list", "Footnotes"], [".content-icon-container", "This page"]])
    for (const aside of all(selector)) aside.ariaLabel = label;
  for (const icons of all(".content-icon-container")) icons.setAttribute("role", "navigation");
  for (const caption of all(".caption[role=heading]")) caption.ariaLevel = 2;

  addEventListener("beforeprint", () => all("details").forEach((fold) => (fold.open = true)));

  addEventListener("copy", (event) => {
    const selection = getSelection();
    if (selection.isCollapsed) return;
    const part = selection.getRangeAt(0).cloneContents();
    const formulas = all(".katex", part);
    if (!formulas.length) return;
    for (const formula of formulas) {
      const tex = formula.querySelector("annotation");
      const sign = formula.closest(".katex-display") ? "$$" : "$";
      if (tex) formula.replaceWith(sign + tex.textContent + sign);
    }
    event.clipboardData.setData("text/plain", part.textContent);
    event.preventDefault();
  });
})();
