// A page's own path is an entry; so is an address, if the reader has done anything since the last. What else comes
// belongs to the last: what completes an address, and the page that one of no page leads to.
if (!window.lexiscopeEntries) {
  window.lexiscopeEntries = true;
  const push = history.pushState.bind(history);
  let acted = false;
  let visited = false; // whether the reader has done anything at all here
  for (const kind of ["pointerdown", "keydown", "click"]) addEventListener(kind, () => { acted = visited = true; }, true);
  addEventListener("popstate", () => { acted = false; visited = true; }, true);
  history.pushState = (state, title, address) => {
    const samePage = address === undefined || new URL(address, location.href).pathname === location.pathname;
    if (acted || (visited && !samePage)) push(state, title, address);
    else history.replaceState(state, title, address);
    acted = false;
  };
}
