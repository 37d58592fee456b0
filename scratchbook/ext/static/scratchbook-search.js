// Excerpts of whole words, without what is no sentence: TeX beside its drawing, stars of exercises, facts under a title.
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
    return plain(page.documentElement.outerHTML, anchor);
  };

  const cut = Search.makeSearchSummary;
  Search.makeSearchSummary = (...found) => {
    const excerpt = cut(...found);
    if (excerpt) excerpt.textContent = excerpt.textContent.replace(/^\.\.\.\S*\s+/, "… ").replace(/\s+\S*\.\.\.$/, " …");
    return excerpt;
  };
})();
