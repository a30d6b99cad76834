// The page: people's Slack, side by side. What each sees comes from the server, whole.
//
// ?as=grace shows that person alone, ?as=grace,amir both; &tab=home opens that tab.

import { Panel } from "./playground-panel.js";
import { element } from "./playground-text.js";
import { Tour } from "./playground-tour.js";

const place = document.getElementById("playground");
const problems = document.getElementById("problems");
const news = document.getElementById("news");
const jump = document.querySelector(".jump");
// Only this page knows it: other websites in the same browser cannot act here.
const TOKEN = { "X-Playground-Token": place.dataset.token };
const FIRST = place.dataset.people.split(",");
const LINK = new URLSearchParams(location.search);
const world = { people: [], command: place.dataset.command, call, refresh, announce, acted };
let version = "";
let panels = [];
let tour = null;

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

// Has a screen reader say it, after what it says already.
function announce(words) {
  news.append(element("p", {}, words));
  while (news.childElementCount > 5) {
    news.firstElementChild.remove();
  }
}

function acted(number, kind) {
  tour?.acted(number, kind);
}

function complain(words) {
  problems.hidden = !words;
  problems.textContent = words;
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
        complain(state.problem);
        return;
      }
      take(state);
      setTimeout(() => this.asking === mine && this.now(), document.hidden ? 2000 : 0);
    } catch {
      if (!mine.signal.aborted) {
        complain("The server does not answer.");
        version = "";
        setTimeout(() => this.asking === mine && this.now(), 2000);
      }
    }
  },
};

function take(state) {
  version = state.version;
  const unknown = show(state.people);
  complain([...unknown, ...state.problems.map((problem) => `Slack would refuse: ${problem}`)].join(" · "));
  for (const panel of panels) {
    panel.draw(state.screens[panel.userId]);
    const known = world.people.find((one) => one.id === panel.userId);
    jump.children[panel.number - 1].textContent = known.name;
  }
}

// Sets up the panels once the people are known, and their menus whenever those change.
function show(people) {
  const names = (LINK.get("as") || "").split(",").filter(Boolean);
  const linked = names.map((name) => people.find((one) => isCalled(one, name)));
  const isKnown = JSON.stringify(world.people) === JSON.stringify(people);
  world.people = people;
  if (!panels.length) {
    setUp(linked.filter(Boolean).map((one) => one.id).slice(0, 6));
  }
  if (!isKnown) {
    for (const panel of panels) {
      panel.chooser.replaceChildren(...people.map((one) => element("option", { value: one.id }, one.name)));
      panel.chooser.value = panel.userId;
    }
  }
  return names.filter((_, index) => !linked[index]).map((name) => `No one here is called “${name}”.`);
}

function isCalled(person, name) {
  return [person.id, person.name, person.name.split(" ")[0]].some((known) => known.toLowerCase() === name.trim().toLowerCase());
}

function setUp(linked) {
  panels = (linked.length ? linked : FIRST).map((userId, index) => new Panel(index + 1, userId, world));
  place.style.setProperty("--panels", panels.length);
  place.replaceChildren(...panels.map((panel) => panel.root));
  jump.replaceChildren(...panels.map((panel) => element("a", { href: `#${panel.root.id}` })));
  jump.hidden = panels.length === 1;
  document.body.classList.toggle("alone", panels.length === 1);
  const button = document.getElementById("start-tour");
  button.hidden = panels.length !== FIRST.length;
  tour = new Tour(document.getElementById("tour"), button, (number) => panels[number - 1]);
  if (!linked.length) {
    tour.offer();
  }
  const tab = LINK.get("tab");
  if (["home", "channel"].includes(tab)) {
    panels.forEach((panel) => panel.open(tab));
  }
  refresh(true);
}

document.getElementById("reset").addEventListener("click", async () => {
  await call("playground/reset", {});
  for (const panel of panels) {
    panel.clear();
    panel.tab = "messages";
  }
  refresh(true);
});
refresh(true);
