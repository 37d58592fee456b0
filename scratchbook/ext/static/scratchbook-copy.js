// A button beside each piece of code, which copies it.  Over plain http browsers know no clipboard, only a selection.
(() => {
  "use strict";
  const select = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  const copy = (text) => (navigator.clipboard ? navigator.clipboard.writeText(text).catch(() => select(text)) : select(text));

  const code = "div.scratchbook-input pre, div.exercise-starter pre, div.highlight-python > .highlight > pre";
  for (const pre of document.querySelectorAll(code)) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy-code";
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    button.onclick = async () => {
      const plain = pre.cloneNode(true);
      plain.querySelectorAll(".linenos").forEach((number) => number.remove());
      await copy(plain.textContent.trimEnd() + "\n");
      button.focus();
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    };
    pre.after(button);
  }
})();
