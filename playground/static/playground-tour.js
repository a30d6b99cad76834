// The guided tour: five steps, each shown beside the part of the page that it is about. It never
// covers the page, goes on by itself when the step was done, and can be skipped at any time.

import { element } from "./playground-text.js";

const DONE = "hiatus-playground-tour";

// `isDone` tells from an action of panel `number` whether the step was done.
const STEPS = [
  {
    title: "Ask for leave",
    words: (names) => `Three people of one company, each with their own Slack. In ${names[0]}'s, press Send: the command opens the form.`,
    panel: 1,
    isDone: (number, kind) => number === 1 && ["command", "shortcut"].includes(kind),
  },
  {
    title: "See what it costs",
    words: () => "Choose the days. The form leaves out weekends and public holidays, and shows what stays of the balance. Then send it.",
    panel: 1,
    isDone: (number, kind) => number === 1 && kind === "submit",
  },
  {
    title: "Decide with one press",
    words: (names) => `${names[1]} manages ${names[0]} and gets the request, with who else is off then. Press Approve.`,
    panel: 2,
    isDone: (number, kind) => number === 2 && ["click", "submit"].includes(kind),
  },
  {
    title: "Everything in one place",
    words: () => "Open Home in any panel: balance, requests, who is out, and the settings.",
    panel: 1,
    isDone: (number, kind) => kind === "open_home",
  },
  {
    title: "Run it",
    words: (names) => `${names[2]} is an admin. Home has people, leave types and holidays there; scripts do the same over the API, with the link at the top. Next: docs/slack.md connects your own Slack, docs/deployment.md puts Hiatus on a server, and make run ARGS=--start-over begins again.`,
    panel: 3,
    isDone: () => false,
  },
];

export class Tour {
  // `panel` returns a panel by its number.
  constructor(root, button, panel) {
    this.root = root;
    this.panel = panel;
    this.at = -1;
    button.addEventListener("click", () => this.show(0, true));
    root.addEventListener("keydown", (event) => event.key === "Escape" && this.end());
  }

  // Begins for those who have not seen it.
  offer() {
    if (!remembered()) {
      this.show(0);
    }
  }

  acted(number, kind) {
    if (STEPS[this.at]?.isDone(number, kind)) {
      this.show(this.at + 1);
    }
  }

  show(at, takesFocus = false) {
    const isLast = at === STEPS.length - 1;
    const step = STEPS[at];
    this.at = at;
    const names = [1, 2, 3].map((number) => this.nameOf(number));
    const next = button(isLast ? "Finish" : "Next", () => (isLast ? this.end() : this.show(at + 1, true)), "primary");
    const others = [
      ...(at ? [button("Back", () => this.show(at - 1, true))] : []),
      ...(isLast ? [] : [button("Skip the tour", () => this.end())]),
    ];
    this.root.hidden = false;
    this.root.replaceChildren(
      element("p", { class: "step" }, `Step ${at + 1} of ${STEPS.length}`),
      element("div", { class: "words", role: "status" }, element("h2", {}, step.title), element("p", {}, step.words(names))),
      element("div", { class: "actions" }, ...others, next),
    );
    this.mark(step.panel);
    if (takesFocus) {
      next.focus();
    }
  }

  end() {
    this.at = -1;
    this.root.hidden = true;
    this.root.replaceChildren();
    this.mark(0);
    remember();
    document.getElementById("start-tour").focus();
  }

  nameOf(number) {
    const { userId, world } = this.panel(number);
    return (world.people.find((one) => one.id === userId)?.name || "").split(" ")[0];
  }

  mark(number) {
    for (const marked of document.querySelectorAll(".on-tour")) {
      marked.classList.remove("on-tour");
    }
    if (number) {
      this.panel(number).root.classList.add("on-tour");
    }
  }
}

function button(words, act, style = "") {
  const made = element("button", { type: "button", class: `button ${style}` }, words);
  made.addEventListener("click", act);
  return made;
}

// Browsers may refuse to remember anything; then the tour is offered each time.
function remembered() {
  try {
    return localStorage.getItem(DONE) !== null;
  } catch {
    return false;
  }
}

function remember() {
  try {
    localStorage.setItem(DONE, "yes");
  } catch {
    // Offered again next time.
  }
}
