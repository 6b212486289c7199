// The context's sentences as a list that is put in order by dragging, by buttons or by Alt and an arrow key.
// Texts come from data sets and readers: they are set as text, never as HTML.

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector("ol");
  const places = data.lines.map((_, place) => place);
  let carried = -1;

  const moved = (from, to) => {
    const order = [...places];
    order.splice(to, 0, ...order.splice(from, 1));
    setTriggerValue("order", order);
  };
  const removed = (place) => setTriggerValue("order", places.filter((other) => other !== place));

  list.replaceChildren(...data.lines.map((line, place) => row(line, place)));

  function row(line, place) {
    const item = made("li", line.flip ? "flips" : "");
    item.draggable = true;
    item.tabIndex = 0;
    item.setAttribute("aria-label", `${place + 1}. ${line.text} ${line.name}, ${line.added}`);
    item.append(made("span", "grip", "⋮⋮"), made("span", "place", String(place + 1)), what(line, place), added(line));
    item.ondragstart = (event) => {
      carried = place;
      item.classList.add("carried");
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", line.text);
    };
    item.ondragend = () => { carried = -1; unmark(); };
    item.ondragover = (event) => {
      if (carried < 0) return;
      event.preventDefault();
      unmark();
      if (place !== carried) item.classList.add(place > carried ? "below" : "above");
    };
    item.ondrop = (event) => {
      event.preventDefault();
      if (carried >= 0 && carried !== place) moved(carried, place);
    };
    item.onkeydown = (event) => {
      if (event.key === "Delete") removed(place);
      else if (event.altKey && event.key === "ArrowUp" && place > 0) moved(place, place - 1);
      else if (event.altKey && event.key === "ArrowDown" && place + 1 < places.length) moved(place, place + 1);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    return item;
  }

  function what(line, place) {
    const cell = made("div", "what");
    const kind = made("div", "kind");
    const dot = made("span", "dot");
    dot.style.background = line.color;
    kind.append(dot, made("span", "name", line.name));
    if (line.flip) kind.append(made("span", "flip", line.flip));
    kind.append(does(place));
    cell.append(made("div", "text", line.text), kind);
    return cell;
  }

  function added(line) {
    const cell = made("div", "added", line.added);
    const track = made("div", "track");
    const bar = made("div", "bar");
    const width = 50 * Math.min(1, Math.abs(line.share));
    bar.style.background = line.color;
    bar.style.width = `${width}%`;
    bar.style.left = `${line.share < 0 ? 50 - width : 50}%`;
    track.append(bar);
    cell.append(track);
    return cell;
  }

  function does(place) {
    const cell = made("div", "does");
    cell.append(
      button("↑", "Move up", place === 0, () => moved(place, place - 1)),
      button("↓", "Move down", place + 1 === places.length, () => moved(place, place + 1)),
      button("✕", "Remove", false, () => removed(place)),
    );
    return cell;
  }

  function button(sign, label, disabled, act) {
    const element = made("button", "", sign);
    element.type = "button";
    element.title = label;
    element.setAttribute("aria-label", label);
    element.disabled = disabled;
    element.onclick = act;
    return element;
  }

  function unmark() {
    for (const other of list.children) other.classList.remove("carried", "above", "below");
  }

  function made(tag, kind, text) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    if (text !== undefined) element.textContent = text;
    return element;
  }
}
