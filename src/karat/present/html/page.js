// What the page does by itself: day and night, sorting, filtering, copying, opening up for paper.
(() => {
  "use strict";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const memory = {
    get() { try { return localStorage.getItem("karat-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("karat-theme", value); } catch { /* private window */ } },
  };
  if (["light", "dark"].includes(memory.get())) root.dataset.theme = memory.get();

  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";

  function theme(button) {
    const show = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      memory.set(root.dataset.theme);
      show();
    });
    dark.addEventListener("change", show);
    show();
  }

  const key = (row, at) => row.cells[at].dataset.key ?? row.cells[at].textContent.trim();

  // Numbers by size, text by the alphabet; what is empty stays last in both directions.
  function compare(a, b, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    const x = Number(a), y = Number(b);
    if (!Number.isNaN(x) && !Number.isNaN(y)) return sign * (x - y);
    return sign * a.localeCompare(b, undefined, { numeric: true });
  }

  function sortable(head) {
    const table = head.closest("table"), body = table.tBodies[0];
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const at = head.cellIndex;
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows];
      rows.sort((a, b) => compare(key(a, at), key(b, at), down ? -1 : 1));
      body.append(...rows);
    });
  }

  const ORDERS = {
    worst: (a, b) => a.dataset.at - b.dataset.at,
    record: (a, b) => a.dataset.record - b.dataset.record || a.dataset.at - b.dataset.at,
    kind: (a, b) => (a.dataset.kind || "").localeCompare(b.dataset.kind || "") || a.dataset.at - b.dataset.at,
  };

  const FIRST = 20;

  function filterable(controls) {
    const list = document.getElementById(controls.dataset.for);
    const items = [...list.children];
    const words = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));
    const text = controls.querySelector("[data-filter=text]");
    const kind = controls.querySelector("[data-filter=kind]");
    const order = controls.querySelector("[data-order]");
    const output = controls.querySelector("output");
    const more = controls.parentElement.querySelector("[data-more]");
    let most = FIRST;
    const filter = () => {
      const wanted = text.value.trim().toLowerCase();
      let fitting = 0;
      for (const item of list.children) {
        const fits = words.get(item).includes(wanted) && (!kind?.value || item.dataset.kind === kind.value);
        fitting += fits;
        item.hidden = !fits || fitting > most;
      }
      more.hidden = fitting <= most;
      more.textContent = `Show all ${fitting}`;
      output.textContent = `${Math.min(fitting, most)} of ${items.length} shown`;
    };
    controls.hidden = false;
    filter();
    text.addEventListener("input", filter);
    kind?.addEventListener("change", filter);
    order.addEventListener("change", () => {
      list.append(...[...items].sort(ORDERS[order.value]));
      filter();
    });
    more.addEventListener("click", () => {
      const next = [...list.children].find((item) => item.hidden);
      most = Infinity;
      filter();
      next?.focus();
    });
  }

  function copying(button) {
    const source = document.getElementById(button.dataset.copy);
    const say = (word) => {
      button.textContent = word;
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    };
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.textContent);
        say("Copied");
      } catch {
        getSelection().selectAllChildren(source);
        say("Selected");
      }
    });
  }

  // Paper cannot be clicked: everything that is folded away is printed.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-theme-toggle]").forEach(theme);
    document.querySelectorAll("th[data-sort]").forEach(sortable);
    document.querySelectorAll(".controls").forEach(filterable);
    document.querySelectorAll("[data-copy]").forEach(copying);
  });
})();
