// The page of webhooks: what arrived at the playground's receiver, newest first.

import { element } from "./playground-text.js";

const place = document.getElementById("webhooks");
const problems = document.getElementById("problems");
const connect = document.getElementById("connect");
const ping = document.getElementById("ping");
const fail = document.getElementById("fail");
const list = document.getElementById("events");
// Only this page knows it: other websites in the same browser cannot act here.
const TOKEN = { "X-Playground-Token": place.dataset.token };
const ASK_AGAIN_MS = 1000;

function complain(words) {
  problems.hidden = !words;
  problems.textContent = words;
}

async function call(name, body) {
  try {
    const answer = await fetch(`webhooks/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...TOKEN },
      body: JSON.stringify(body),
    });
    complain((await answer.json()).problem ?? "");
  } catch {
    complain("Hiatus does not answer. Is it still running?");
  }
}

function shown(event) {
  const signature = event.is_verified ? "signature OK" : "signature wrong";
  const attempt = `attempt ${event.attempt}`;
  const title = element(
    "summary",
    {},
    element("strong", {}, event.type),
    element("span", { class: event.is_verified ? "good" : "bad" }, signature),
    element("span", {}, attempt),
    element("span", { class: event.status < 300 ? "good" : "bad" }, `answered ${event.status}`),
    element("time", { datetime: event.at }, new Date(event.at).toLocaleTimeString()),
  );
  const id = element("p", {}, `webhook-id: ${event.webhook_id}`);
  const body = element("pre", { tabindex: "0", "aria-label": "Body" }, event.body);
  const item = element("li", {}, element("details", {}, title, id, body));
  item.dataset.number = event.number;
  return item;
}

function show(state) {
  const isConnected = state.webhook_id !== null;
  connect.textContent = isConnected ? "Connect again" : "Connect";
  ping.disabled = fail.disabled = !isConnected;
  fail.checked = state.fails_next;
  document.getElementById("connected").textContent = isConnected
    ? `Connected: Hiatus sends every event to this page, as webhook ${state.webhook_id}.`
    : "Not connected.";
  document.getElementById("nothing").hidden = state.events.length > 0;
  // What is there stays, so that an opened event stays open.
  const present = new Map([...list.children].map((item) => [item.dataset.number, item]));
  list.replaceChildren(...state.events.map((event) => present.get(String(event.number)) ?? shown(event)));
}

// The server waits for what is new before it answers.
async function follow() {
  let version = "";
  let isAway = false;
  for (;;) {
    let problem = "";
    try {
      const answer = await fetch(`webhooks/state?after=${version}`, { headers: TOKEN });
      const state = await answer.json();
      if (answer.ok) {
        version = String(state.version);
        show(state);
      } else {
        problem = state.problem;
      }
    } catch {
      problem = "Hiatus does not answer. Is it still running?";
    }
    if (problem || isAway) {
      complain(problem);
    }
    isAway = problem !== "";
    if (isAway) {
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  }
}

connect.addEventListener("click", () => call("connect", {}));
ping.addEventListener("click", () => call("ping", {}));
fail.addEventListener("change", () => call("fail", fail.checked));
follow();
