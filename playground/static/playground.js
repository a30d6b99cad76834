// The page: three people's Slack, side by side. What each sees comes from the server, whole.

import { Panel } from "./playground-panel.js";
import { element } from "./playground-text.js";

const place = document.getElementById("playground");
const problems = document.getElementById("problems");
// Only this page knows it: other websites in the same browser cannot act here.
const TOKEN = { "X-Playground-Token": place.dataset.token };
const FIRST = place.dataset.people.split(",");
const world = { people: [], command: place.dataset.command, call, refresh };
let version = "";
let panels = [];

async function call(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...TOKEN },
    body: JSON.stringify(body),
  });
  return answer.json();
}

function refresh(isAfresh) {
  if (isAfresh) {
    version = "";
  }
  return asker.now();
}

// Asks for what is new, and waits at the server for it; at once after something was done.
const asker = {
  asking: null,
  async now() {
    this.asking?.abort();
    const mine = new AbortController();
    this.asking = mine;
    try {
      const shown = panels.map((panel) => panel.userId).join(",");
      const answer = await fetch(`playground/state?people=${shown}&after=${version}`, {
        headers: TOKEN,
        signal: mine.signal,
      });
      const state = await answer.json();
      if (mine.signal.aborted) {
        return;
      }
      if (answer.status === 403) {
        problems.hidden = false;
        problems.textContent = state.problem;
        return;
      }
      take(state);
      setTimeout(() => this.asking === mine && this.now(), document.hidden ? 2000 : 0);
    } catch {
      if (!mine.signal.aborted) {
        problems.hidden = false;
        problems.textContent = "The server does not answer.";
        version = "";
        setTimeout(() => this.asking === mine && this.now(), 2000);
      }
    }
  },
};

function take(state) {
  version = state.version;
  problems.hidden = !state.problems.length;
  problems.textContent = state.problems.length ? `Slack would refuse: ${state.problems.join(" · ")}` : "";
  if (JSON.stringify(world.people) !== JSON.stringify(state.people)) {
    world.people = state.people;
    for (const panel of panels) {
      panel.chooser.replaceChildren(...world.people.map((one) => element("option", { value: one.id }, one.name)));
    }
  }
  for (const panel of panels) {
    panel.draw(state.screens[panel.userId]);
    const known = world.people.find((one) => one.id === panel.userId);
    document.querySelector(`.jump [href="#person-${panel.number}"]`).textContent = known.name;
  }
}

panels = FIRST.map((userId, index) => {
  const panel = new Panel(index + 1, world);
  panel.userId = userId;
  return panel;
});
place.replaceChildren(...panels.map((panel) => panel.root));
document.getElementById("reset").addEventListener("click", async () => {
  await call("playground/reset", {});
  for (const panel of panels) {
    panel.errors = {};
    panel.drawn = {};
    panel.tab = "messages";
  }
  refresh(true);
});
refresh(true);
