// Numbers are found, and a term with what it means; excerpts have whole words, without what is no sentence: TeX beside
// its drawing, stars of exercises, facts under a title, labels of outputs.
(() => {
  "use strict";
  const LONGEST = 24; // characters of TeX: a longer formula is no part of a sentence that an eye can read without it
  const NOISE = "annotation, .katex-html, .chapter-facts, .scratchbook-label, .stars, .exercise-kind, .quiz-kind, .quiz-verdict, svg, nav";
  if (typeof Search === "undefined" || !Search.htmlToText) return;
  const plain = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const formula of page.querySelectorAll(".katex")) {
      const tex = formula.querySelector("annotation")?.textContent ?? "";
      const isLong = formula.closest(".katex-display, dt") || tex.length > LONGEST;
      const words = [...tex.matchAll(/\\(?:operatorname\*?|mathrm|text)\s*\{([^{}]*)\}/g)].map((found) => found[1]);
      if (isLong) formula.textContent = ` ${words.join(" ")} `;
    }
    page.querySelectorAll(NOISE).forEach((element) => element.remove());
    const term = anchor ? page.querySelector(anchor) : null;
    for (const name of page.querySelectorAll("dt"))
      name.append(name !== term && name.nextElementSibling?.matches("dt") ? ", " : ": ");
    const meaning = term?.matches("dt") && page.querySelector(`${anchor} ~ dd`);
    if (meaning) term.append(...meaning.childNodes);
    return plain(page.documentElement.outerHTML, anchor);
  };

  // Sphinx takes no number for a word; the index has those of four digits and more.
  const parse = Search._parseQuery;
  Search._parseQuery = (query) => {
    const parsed = parse(query);
    const [, wanted, , highlighted] = parsed;
    for (const digits of query.match(/\d{4,}/g) ?? []) {
      wanted.add(digits);
      highlighted.add(digits);
    }
    return parsed;
  };

  // A page whose term or section was found is not found once more as a whole.
  const perform = Search._performSearch;
  Search._performSearch = (...query) => {
    const found = perform(...query);
    const placed = new Set(found.filter(([, , anchor, description]) => anchor && !description).map(([name]) => name));
    return found.filter(([name, , , , , , kind]) => kind !== "text" || !placed.has(name));
  };

  // Nothing is chosen here that could be too little.
  Documentation.TRANSLATIONS[
    "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've selected enough categories."
  ] ??= "Nothing was found. Every word of a query must stand on a page: try fewer.";
  if (!new URLSearchParams(location.search).get("q")) document.querySelector("[role=main] [name=q]")?.focus();

  const cut = Search.makeSearchSummary;
  Search.makeSearchSummary = (...found) => {
    const excerpt = cut(...found);
    if (excerpt) excerpt.textContent = excerpt.textContent.replace(/^\.\.\.\S*\s+/, "… ").replace(/\s+\S*\.\.\.$/, " …").replace(/\s+: /g, ": ");
    return excerpt;
  };
})();
