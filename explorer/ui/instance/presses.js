// Presses of Previous and Next, counted where they are made.
//
// Streamlit takes all presses that come while a page is drawn as one. So each press is taken here, before Streamlit's
// button has it, and sends the place that it leads to: of those that wait the last one wins, and it knows of all others.
//
//     shown 5, pressed three times    to 6 (number 1), to 7 (number 2), to 8 (number 3)
//     shown 6, `taken` 1              two are on their way, so a fourth press leads to 9
//     shown 8, `taken` 3              all are here: from now on what is shown counts again
//
// What is sent while Streamlit draws a page anew can be lost. So a press that is not taken once the page rests is sent
// again, unless the reader went elsewhere meanwhile; the number tells who takes it that it is the same.
//
// Without this script the buttons are Streamlit's own.

const BUTTONS = { "st-key-step-back": -1, "st-key-step-forth": 1 };
const KEYS = { ArrowLeft: -1, ArrowRight: 1 };
const AGAIN = 500; // milliseconds after which a press that nobody took is sent again
const MOST = 4; // times that it is sent
const TYPING = "input, textarea, select, [contenteditable=true]";

// What is kept outlives a drawing: Streamlit takes the one before away a moment before it has the next one made.
const kept = (window.lexiscopePresses ??= { number: 0, waiting: null });

export default function ({ data, setTriggerValue }) {
  kept.number = Math.max(kept.number, data.taken);
  if (kept.waiting && (data.taken >= kept.waiting.number || data.of !== kept.waiting.of)) kept.waiting = null;
  kept.shown = data;
  kept.send = (go) => setTriggerValue("go", go);
  if (kept.listening) return;
  kept.listening = true;
  document.addEventListener("click", clicked, true);
  // Before Streamlit's own, which is the document's; what the strip keeps for itself comes to neither.
  document.body.addEventListener("keydown", pressed);
}

function clicked(event) {
  const button = event.target.closest?.("button");
  const name = button && Object.keys(BUTTONS).find((each) => button.closest(`.${each}`));
  if (name) step(BUTTONS[name], event);
}

function pressed(event) {
  if (!(event.key in KEYS) || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (event.defaultPrevented || event.target.closest(TYPING)) return;
  if (document.querySelector("[data-testid=stDialog]") || event.target.closest("[role=dialog]")) {
    event.stopPropagation(); // nor does Streamlit's own step behind what is open
    return;
  }
  if (document.querySelector(".st-key-step-forth")) step(KEYS[event.key], event); // this page has the buttons
}

function step(by, event) {
  event.preventDefault();
  event.stopPropagation();
  const from = kept.waiting?.to ?? kept.shown.place;
  const to = Math.min(Math.max(from + by, 0), kept.shown.total - 1);
  if (to === from) return;
  kept.waiting = { to, of: kept.shown.of, number: ++kept.number };
  kept.shownThen = kept.shown;
  kept.sent = 0;
  send();
}

function send() {
  kept.sent += 1;
  kept.send({ ...kept.waiting, sent: kept.sent });
  clearTimeout(kept.again);
  kept.again = setTimeout(look, AGAIN);
}

function look() {
  if (!kept.waiting) return;
  const went = kept.shown.place !== kept.shownThen.place && kept.shown.taken === kept.shownThen.taken;
  if (went || kept.sent >= MOST || !document.querySelector(".st-key-step-forth")) {
    kept.waiting = null;
    return;
  }
  const app = document.querySelector("[data-testid=stApp]");
  if (app?.dataset.testScriptState === "notRunning") send();
  else kept.again = setTimeout(look, AGAIN);
}
