/* Previews of what a link leads to, "/" for search, and formulas that copy as TeX.  Every page is complete without. */
(() => {
  "use strict";
  const article = document.querySelector("[role=main], main, article") || document.body;
  const kinds = ".equation, .math-wrapper, .literal-block-wrapper, figure, .citation, .footnote, table, .exercise";
  let shown = null, owner = null, timer = 0;

  /* What to show for a link: the target on this page, or a copy that the build left for another page's. */
  const find = (link) => {
    const url = new URL(link.href, location.href);
    const id = decodeURIComponent(url.hash.slice(1));
    if (!id) return null;
    if (url.pathname !== location.pathname) {
      const kept = document.querySelector(`template[data-preview="${CSS.escape(link.getAttribute("href"))}"]`);
      return kept && kept.content.cloneNode(true);
    }
    const target = document.getElementById(id);
    const box = target && (target.matches(kinds) ? target : target.querySelector(":scope > :is(" + kinds + ")") || target.closest(".citation, figure"));
    if (!box || link.closest("#" + CSS.escape(id))) return null;
    const copy = box.cloneNode(true);
    copy.removeAttribute("id");
    for (const element of copy.querySelectorAll("[id]")) element.removeAttribute("id");
    return copy;
  };

  const hide = () => {
    clearTimeout(timer);
    if (shown) shown.remove();
    if (owner) owner.removeAttribute("aria-describedby");
    shown = owner = null;
  };

  const show = (link) => {
    const content = find(link);
    hide();
    if (!content) return;
    shown = document.createElement("div");
    shown.className = "book-preview";
    shown.id = "book-preview";
    shown.setAttribute("role", "tooltip");
    shown.append(content);
    document.body.append(shown);
    const line = link.getClientRects()[0];
    const left = Math.min(line.left, document.documentElement.clientWidth - shown.offsetWidth - 12);
    const below = line.bottom + shown.offsetHeight + 8 < innerHeight || line.top < shown.offsetHeight + 8;
    shown.style.left = Math.max(8, left) + scrollX + "px";
    shown.style.top = scrollY + (below ? line.bottom + 6 : line.top - shown.offsetHeight - 6) + "px";
    owner = link;
    link.setAttribute("aria-describedby", shown.id);
    shown.addEventListener("mouseenter", () => clearTimeout(timer));
    shown.addEventListener("mouseleave", hide);
  };

  const linkOf = (event) => event.target.closest && event.target.closest("a.internal[href*='#'], a.equation-mark");
  article.addEventListener("mouseover", (event) => {
    const link = linkOf(event);
    if (!link || link === owner) return;
    clearTimeout(timer);
    timer = setTimeout(show, 200, link);
  });
  article.addEventListener("mouseout", (event) => {
    if (!linkOf(event)) return;
    clearTimeout(timer);
    timer = setTimeout(hide, 250);
  });
  article.addEventListener("focusin", (event) => linkOf(event) && event.target.matches(":focus-visible") && show(linkOf(event)));
  article.addEventListener("focusout", hide);

  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    const box = document.querySelector("input[name=q]");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey || !box) return;
    event.preventDefault();
    if (!box.getClientRects().length || box.getBoundingClientRect().right < 0) {
      const drawer = document.getElementById("__navigation");
      if (drawer) drawer.checked = true;
    }
    box.focus();
  });

  /* What scrolls sideways can be reached by the keyboard in every browser. */
  const reach = () => {
    for (const box of document.querySelectorAll(".equation-body, .highlight pre, .table-wrapper")) {
      if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  reach();
  addEventListener("load", reach);
  addEventListener("resize", reach);

  /* On paper, everything that folds is open. */
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });

  /* A formula is copied as its TeX, and a search result shows none of it. */
  addEventListener("copy", (event) => {
    const selection = getSelection();
    if (selection.isCollapsed || !event.clipboardData) return;
    const part = selection.getRangeAt(0).cloneContents();
    const formulas = part.querySelectorAll(".katex");
    if (!formulas.length) return;
    for (const formula of formulas) {
      const tex = formula.querySelector("annotation");
      if (tex) formula.replaceWith(formula.closest(".katex-display") ? `$$${tex.textContent}$$` : `$${tex.textContent}$`);
    }
    const holder = document.createElement("div");
    holder.append(part);
    event.clipboardData.setData("text/plain", holder.textContent);
    event.preventDefault();
  });
  if (typeof Search !== "undefined" && Search.htmlToText) {
    const plain = Search.htmlToText;
    Search.htmlToText = (html, anchor) => {
      const page = new DOMParser().parseFromString(html, "text/html");
      for (const noise of page.querySelectorAll("annotation, .katex-html")) noise.remove();
      return plain(page.documentElement.outerHTML, anchor);
    };
  }
})();
