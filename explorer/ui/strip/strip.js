// The strip: rows of tokens in columns, each a button; below it the panel of the token that is open, above it the tools.
//
// Python says what there is (strip.py), this file draws it and tells what the reader does, as one trigger "act" with
// what is to be done in `do`. Texts come from data sets, models and readers: they are set as text, never as HTML.
//
// Keys: left and right go from word to word, up and down from row to row, Enter opens and closes, Escape closes,
// Control and z or y undo and redo.

const CHARACTERS_OF_A_LINE = 90;
const LAST_LINES = 40; // pixels

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".lx-cockpit") ?? parentElement.appendChild(made("div", "lx-cockpit"));
  const kept = (root.lxKept ??= { editing: "", typed: {}, history: false, link: "", stop: "" });
  const focused = root.contains(document.activeElement) ? document.activeElement.dataset.id : "";
  const opened = data.panel?.id ?? "";
  const wasOpen = kept.opened;
  const first = !("opened" in kept); // what a link has opened leaves the page at its top
  kept.opened = opened;
  if (wasOpen !== opened) delete kept.typed.own;
  // What comes later than this drawing (a clipboard, a clock) draws what is shown by then.
  root.lxRedraw = redraw;
  if (kept.of !== data.of) Object.assign(kept, { of: data.of, editing: "", typed: {}, history: false, link: "" });
  root.classList.remove("lx-busy");
  draw();
  if (focused) find(focused)?.focus({ preventScroll: true });
  // What was opened is gone with its word: the keyboard goes back to the strip.
  if (focused && !find(focused) && wasOpen && !opened) stops()[0]?.focus({ preventScroll: true });
  // A panel that has just been opened may begin below the window's edge; the word it is about stays in view.
  if (opened && wasOpen !== opened && !first) reveal(root.querySelector(".lx-panel"), root.querySelector('button.lx-token[aria-expanded="true"]'));

  function draw() {
    root.replaceChildren(
      tools(),
      ...data.blocks.map(block),
      ...(data.key ? [key(data.key)] : []),
      ...(data.panel ? [panel(data.panel)] : []),
    );
    // One stop of the Tab key for the whole strip; the arrows go on from there.
    const all = stops();
    const stop = all.find((cell) => cell.dataset.id === kept.stop) ?? all.find((cell) => cell.ariaExpanded === "true") ?? all[0];
    for (const cell of all) cell.tabIndex = cell === stop ? 0 : -1;
  }

  function act(what) {
    root.classList.add("lx-busy");
    setTriggerValue("act", what);
  }

  function redraw(focus) {
    draw();
    const element = find(focus);
    element?.focus({ preventScroll: true });
    element?.select?.();
  }

  function reveal(panel, word) {
    requestAnimationFrame(() => {
      if (!panel?.isConnected) return;
      panel.scrollIntoView({ block: "nearest" });
      word?.scrollIntoView({ block: "nearest" });
      // The row with Undo and Copy link, too, and not under the verdict that stays at the top, where there is room but
      // for the panel's last lines.
      const tools = root.querySelector(".lx-tools");
      const height = panel.getBoundingClientRect().bottom - tools.getBoundingClientRect().top;
      if (height - LAST_LINES > innerHeight - covered()) return;
      tools.style.scrollMarginTop = `${covered()}px`;
      tools.scrollIntoView({ block: "nearest" });
    });
  }

  function covered() {
    const above = document.querySelector(".st-key-cockpit-above")?.closest("[data-testid=stLayoutWrapper]");
    return above ? Number.parseFloat(getComputedStyle(above).top) + above.offsetHeight : 0;
  }

  function find(id) { return id ? root.querySelector(`[data-id="${CSS.escape(id)}"]`) : null; }
  function stops() { return [...root.querySelectorAll("button.lx-token")]; }

  // Tools

  function tools() {
    const row = made("div", "lx-tools");
    row.setAttribute("role", "toolbar");
    row.setAttribute("aria-label", "Edits");
    const { labels, at } = data.history;
    row.append(
      button("↶ Undo", "undo", () => act({ do: "undo" }), { disabled: at === 0, title: "Undo (Ctrl+Z)" }),
      button("↷ Redo", "redo", () => act({ do: "redo" }), { disabled: at + 1 >= labels.length, title: "Redo (Ctrl+Y)" }),
    );
    const list = button(`History (${labels.length - 1})`, "history", () => { kept.history = !kept.history; redraw("history"); }, {
      disabled: labels.length < 2,
    });
    list.setAttribute("aria-expanded", String(kept.history && labels.length > 1));
    row.append(list);
    row.append(
      button("Start over", "reset", () => act({ do: "reset" }), { disabled: !data.changed }),
      button(data.pinned ? "Unpin" : "Pin", "pin", () => act({ do: "pin" }), {
        title: data.pinned ? "Take this out of the comparison" : "Keep this to compare it with another",
      }),
      button(kept.link === "copied" ? "✓ Link copied" : "Copy link", "link", copy, { title: "The address of all that is shown" }),
    );
    if (kept.link && kept.link !== "copied") {
      const field = made("input", "lx-link");
      Object.assign(field, { value: kept.link, readOnly: true, ariaLabel: "The link" });
      field.dataset.id = "address";
      field.onfocus = () => field.select();
      row.append(field);
    }
    const whole = made("div", "lx-toolbox");
    whole.append(row);
    if (kept.history && labels.length > 1) whole.append(history(labels, at));
    return whole;
  }

  function history(labels, at) {
    const list = made("ol", "lx-history");
    list.setAttribute("aria-label", "Edits that can be returned to");
    labels.forEach((label, place) => {
      const item = made("li");
      const step = button(label, `step:${place}`, () => act({ do: "back", to: place }));
      if (place === at) step.setAttribute("aria-current", "step");
      item.append(step);
      list.append(item);
    });
    return list;
  }

  async function copy() {
    const address = window.location.href;
    try {
      await navigator.clipboard.writeText(address);
      kept.link = "copied";
      setTimeout(() => {
        kept.link = "";
        const here = root.contains(document.activeElement) ? document.activeElement.dataset.id : "";
        if (root.isConnected) root.lxRedraw(here);
      }, 2500);
    } catch {
      kept.link = address; // no clipboard on a page without https: shown, selected, to be copied by hand
    }
    root.lxRedraw(kept.link === "copied" ? "link" : "address");
  }

  // Rows

  function block(one, number) {
    const part = made("div", `lx-block${one.plain ? " lx-plain" : ""}`);
    part.setAttribute("role", "group");
    part.setAttribute("aria-label", one.say);
    if (one.title) part.append(made("p", "lx-block-title", one.title));
    const editing = one.lines.findIndex((line) => line.part && line.part === kept.editing);
    const body = made("div", "lx-block-body");
    const rest = one.total ? " 1.5rem" : one.columns.some((column) => column.foot) ? " 1.3rem" : "";
    body.style.setProperty("--rows", `repeat(${one.lines.length}, ${one.plain ? "2rem" : "3rem"})${rest}`);
    const heads = made("div", "lx-heads");
    for (const line of one.lines) heads.append(head(line));
    if (one.total) heads.append(made("div", "lx-head lx-head-delta", one.total));
    body.append(heads);
    if (editing >= 0) {
      body.append(editor(one.lines[editing]));
    } else {
      const columns = made("div", "lx-columns");
      let word; // its tokens stay on one line, where that is wide enough
      for (const column of one.columns) {
        if (!word || column.starts) columns.append((word = made("div", "lx-columns-of-word")));
        word.append(drawn(column, one, number));
      }
      body.append(columns);
    }
    part.append(body);
    return part;
  }

  function head(line) {
    const cell = made("div", "lx-head");
    const name = made("span", "lx-head-name", line.name);
    if (line.part && kept.editing !== line.part) {
      name.append(button("✎", `edit:${line.part}`, () => { kept.editing = line.part; redraw("editor"); }, {
        title: `Edit the text: ${line.name}`, kind: "lx-edit",
      }));
    }
    cell.append(name);
    if (line.note) cell.append(made("span", "lx-head-note", line.note));
    return cell;
  }

  function editor(line) {
    const form = made("form", "lx-editor");
    const long = line.text.length > CHARACTERS_OF_A_LINE || line.text.includes("\n");
    const box = made(long ? "textarea" : "input");
    box.value = kept.typed[line.part] ?? line.text;
    box.dataset.id = "editor";
    box.setAttribute("aria-label", line.name);
    if (long) box.rows = Math.min(8, Math.ceil(line.text.length / CHARACTERS_OF_A_LINE) + 1);
    const leave = () => { delete kept.typed[line.part]; kept.editing = ""; };
    const send = (event) => {
      event?.preventDefault();
      const text = box.value;
      leave();
      if (text !== line.text) act({ do: "text", part: line.part, text });
      redraw("");
      stops()[0]?.focus({ preventScroll: true });
    };
    box.oninput = () => { kept.typed[line.part] = box.value; };
    box.onkeydown = (event) => {
      event.stopPropagation(); // a letter in a text is no shortcut of the page
      if (event.key === "Escape") { leave(); redraw(`edit:${line.part}`); }
      if (event.key === "Enter" && (!long || event.ctrlKey || event.metaKey)) send(event);
    };
    form.onsubmit = send;
    form.append(box, button("Use this text", "use", send, { kind: "lx-main" }), button("Cancel", "cancel", () => { leave(); redraw(`edit:${line.part}`); }));
    return form;
  }

  function drawn(column, one, number) {
    const stack = made("div", "lx-column");
    column.cells.forEach((cell, line) => stack.append(cell ? token(cell, `${number}.${line}`) : gap()));
    if (one.total) stack.append(delta(column.delta));
    if (column.foot) stack.append(made("span", "lx-foot", column.foot));
    return stack;
  }

  function token(cell, line) {
    const box = made(cell.key ? "button" : "span", `lx-token lx-hue-${cell.hue} ${cell.kinds}`);
    box.style.setProperty("--tint", cell.tint.toFixed(3));
    box.setAttribute("aria-label", cell.say.join(", "));
    if (!cell.key) box.setAttribute("role", "img");
    box.append(
      hidden("lx-text", cell.text),
      ...(cell.number ? [hidden("lx-number", cell.number)] : []),
      tip(cell.say),
    );
    if (cell.key) {
      box.type = "button";
      box.dataset.id = `${line}|${cell.key}`;
      box.dataset.line = line;
      box.dataset.key = cell.key;
      box.setAttribute("aria-expanded", String(cell.open));
      box.onclick = () => { kept.stop = box.dataset.id; act(cell.open ? { do: "close" } : { do: "open", key: cell.key }); };
      box.onkeydown = (event) => walk(event, box, cell);
    }
    return box;
  }

  function walk(event, box, cell) {
    const rows = new Map();
    for (const each of stops()) rows.set(each.dataset.line, [...(rows.get(each.dataset.line) ?? []), each]);
    const names = [...rows.keys()], own = rows.get(box.dataset.line), place = own.indexOf(box), row = names.indexOf(box.dataset.line);
    const middle = (each) => { const at = each.getBoundingClientRect(); return at.left + at.width / 2; };
    const nearest = (other) => other?.reduce((best, each) => (Math.abs(middle(each) - middle(box)) < Math.abs(middle(best) - middle(box)) ? each : best));
    let next;
    if (event.key === "ArrowRight") next = own[place + 1];
    else if (event.key === "ArrowLeft") next = own[place - 1];
    else if (event.key === "ArrowDown") next = nearest(rows.get(names[row + 1])) ?? root.querySelector(".lx-panel button, .lx-panel input");
    else if (event.key === "ArrowUp") next = nearest(rows.get(names[row - 1]));
    else if (event.key === "Home") next = own[0];
    else if (event.key === "End") next = own.at(-1);
    else return;
    // Otherwise the page would step to the next instance, or scroll.
    event.preventDefault();
    event.stopPropagation();
    if (!next) return;
    if (next.classList.contains("lx-token")) {
      for (const each of stops()) each.tabIndex = each === next ? 0 : -1;
      kept.stop = next.dataset.id;
    }
    next.focus();
  }

  function delta(one) {
    if (!one) return made("span", "lx-delta");
    const cell = made("span", `lx-delta lx-${one.sign}`, one.text);
    cell.style.setProperty("--tint", one.tint.toFixed(3));
    return cell;
  }

  function gap() {
    const cell = made("span", "lx-token lx-gap");
    cell.setAttribute("role", "img");
    cell.setAttribute("aria-label", "no token here");
    return cell;
  }

  function key(one) {
    const row = made("div", "lx-key");
    row.append(made("span", "", one.label), made("span", "", one.low), made("span", `lx-ramp lx-ramp-${one.hue}`), made("span", "", one.high));
    if (one.hint) row.append(made("span", "lx-hint", one.hint));
    return row;
  }

  // The panel of the open word

  function panel(one) {
    const box = made("section", "lx-panel");
    box.setAttribute("aria-label", `“${one.title}”`);
    const top = made("div", "lx-panel-head");
    const title = made("h3", "", one.title);
    if (one.about) title.append(made("span", "lx-quiet", one.about));
    top.append(title, button("✕", "close", () => act({ do: "close" }), { title: "Close (Escape)" }));
    const body = made("div", "lx-panel-body");
    body.append(words(one), ...(one.expected ? [expected(one.expected)] : []), ...(one.corpus ? [corpus(one.corpus)] : []));
    box.append(top, body);
    return box;
  }

  function words(one) {
    const part = made("div", "lx-part lx-senses");
    part.append(made("h4", "", one.heading));
    if (one.preview) part.append(button(one.preview, "effects", () => act({ do: "effects" }), { kind: "lx-preview" }));
    for (const sense of one.senses) part.append(meaning(sense));
    if (one.note) part.append(made("p", "lx-quiet lx-excluded", one.note));
    if (!one.editable) return part;
    const form = made("form", "lx-own");
    const box = made("input");
    Object.assign(box, { placeholder: "another word", value: kept.typed.own ?? "" });
    box.setAttribute("aria-label", "Another word");
    box.dataset.id = "own";
    box.oninput = () => { kept.typed.own = box.value; };
    box.onkeydown = (event) => event.key !== "Escape" && event.stopPropagation();
    const send = (event) => {
      event?.preventDefault();
      if (box.value.trim()) act({ do: "type", text: box.value });
      delete kept.typed.own;
    };
    form.onsubmit = send;
    form.append(box, button("Use", "own:use", send));
    form.append(button("Remove the word", "remove", () => act({ do: "remove" })));
    if (one.swapped) form.append(button("Put it back", "restore", () => act({ do: "restore" })));
    if (one.veto) form.append(button(`Never swap “${one.veto}” in this window`, "veto", () => act({ do: "veto" }), { title: "Also in perturbation runs started from this window" }));
    part.append(form);
    return part;
  }

  function meaning(sense) {
    const part = made("div", `lx-sense${sense.chosen ? " lx-is-chosen" : ""}`);
    const title = made("p", "lx-sense-head", sense.definition);
    if (sense.chosen) title.prepend(made("span", "lx-chosen", "this sense"));
    title.title = sense.why;
    const list = made("div", "lx-synonyms");
    for (const one of sense.synonyms) {
      const chip = button(one.form, `swap:${one.lemma}`, () => act({ do: "swap", lemma: one.lemma }), { kind: `lx-synonym${one.picked ? " lx-picked" : ""}`, title: one.say });
      chip.setAttribute("aria-pressed", String(one.picked));
      if (one.count) chip.append(made("span", "lx-number", one.count));
      if (one.effect) chip.append(made("span", `lx-effect lx-turns-${one.turns || "nothing"}`, one.effect));
      list.append(chip);
    }
    part.append(title, list);
    if (sense.excluded) part.append(made("p", "lx-quiet lx-excluded", sense.excluded));
    return part;
  }

  function expected(one) {
    const part = made("div", "lx-part");
    part.append(made("h4", "", one.heading));
    if (one.note) part.append(made("p", "lx-quiet lx-excluded", one.note));
    if (one.offer) {
      part.append(button(one.offer, "expect", () => act({ do: "expect" }), { kind: "lx-synonym" }));
      return part;
    }
    const list = made("ol", "lx-expected");
    list.setAttribute("aria-label", one.heading);
    for (const each of one.tokens) {
      const item = made("li", each.stands ? "lx-stands" : "");
      const name = each.word ? button(each.text, `expect:${each.text}`, () => act({ do: "type", text: each.word }), { title: `Put “${each.word}” here` }) : made("span", "lx-piece", each.text);
      const bar = made("span", "lx-bar");
      bar.style.setProperty("--share", each.share.toFixed(4));
      item.append(name, bar, made("span", "lx-number", each.probability));
      list.append(item);
    }
    part.append(list);
    return part;
  }

  function corpus(one) {
    const part = made("div", "lx-part");
    part.append(made("h4", "", one.heading));
    if (one.note) part.append(made("p", "lx-quiet lx-excluded", one.note));
    if (one.grams.length) {
      const heads = made("p", "lx-gram-heads lx-quiet");
      heads.append(made("span"), made("span", "", "occurs"), made("span", "", "popularity"));
      part.append(heads);
    }
    const list = made("ul", "lx-grams");
    list.setAttribute("aria-label", one.heading);
    one.grams.forEach((gram, place) => {
      const item = made("li");
      const name = button(gram.text, `gram:${place}`, () => act({ do: "gram", n: gram.open ? -1 : place }), { title: "Read the documents that hold it" });
      name.setAttribute("aria-expanded", String(gram.open));
      item.append(name, made("span", "lx-number", gram.count), made("span", "lx-rate", gram.popularity));
      list.append(item);
      if (gram.open) for (const document of one.documents) list.append(page(document));
    });
    part.append(list);
    return part;
  }

  function page(document) {
    const item = made("li", "lx-document");
    for (const [text, marked] of document.pieces) item.append(marked ? made("mark", "", text) : text);
    item.append(made("span", "lx-quiet", document.where));
    return item;
  }

  root.onkeydown = (event) => {
    const control = event.ctrlKey || event.metaKey;
    if (event.key === "Escape" && data.panel) {
      const word = root.querySelector('button.lx-token[aria-expanded="true"]');
      word?.focus({ preventScroll: true });
      act({ do: "close" });
    } else if (control && event.key.toLowerCase() === "z" && data.history.at > 0) {
      act({ do: "undo" });
    } else if (control && event.key.toLowerCase() === "y" && data.history.at + 1 < data.history.labels.length) {
      act({ do: "redo" });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  // Small things

  function button(text, id, press, { disabled = false, title = "", kind = "" } = {}) {
    const element = made("button", kind, text);
    element.type = "button";
    element.disabled = disabled;
    element.dataset.id = id;
    if (title) element.title = title;
    if (text.length < 2) element.setAttribute("aria-label", title);
    element.onclick = press;
    return element;
  }

  function hidden(kind, text) {
    const element = made("span", kind, text);
    element.ariaHidden = "true";
    return element;
  }

  function tip(lines) {
    const box = made("span", "lx-tip");
    box.ariaHidden = "true";
    lines.forEach((line, place) => box.append(...(place ? [made("br")] : []), line));
    return box;
  }

}

function made(tag, kind, text) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
}
