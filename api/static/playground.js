// The page: three people's Slack, side by side. What each sees comes from the server, whole.

import { drawBlocks, fieldsIn } from "./playground-blocks.js";
import { element, mrkdwn } from "./playground-text.js";

const place = document.getElementById("playground");
const problems = document.getElementById("problems");
const FIRST = place.dataset.people.split(",");
const COMMAND = place.dataset.command;
let people = [];
let version = "";
let panels = [];

async function call(path, body) {
  const answer = await fetch(path, body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return answer.json();
}

// One person's window: a list of messages, the Home tab, a channel, and a form on top of them.
class Panel {
  constructor(number) {
    this.number = number;
    this.tab = "messages";
    this.errors = {};
    this.drawn = {};
    this.chooser = element("select", { "aria-label": "Who is this?" });
    this.chooser.addEventListener("change", () => this.become(this.chooser.value));
    this.role = element("span", { class: "role" });
    this.tabs = ["messages", "home", "channel"].map((name) => {
      const tab = element("button", { type: "button", role: "tab", id: `tab-${number}-${name}`, "aria-controls": `view-${number}` });
      tab.append({ messages: "Hiatus", home: "Home", channel: "#general" }[name]);
      tab.addEventListener("click", () => this.open(name));
      tab.addEventListener("keydown", (event) => this.steer(event));
      tab.dataset.tab = name;
      return tab;
    });
    this.view = element("div", { class: "view", role: "tabpanel", id: `view-${number}`, tabindex: "0" });
    this.line = element("input", { type: "text", autocomplete: "off", spellcheck: "false", value: COMMAND, "aria-label": "Message Hiatus" });
    this.composer = element("form", { class: "composer" }, this.line, element("button", { class: "button primary" }, "Send"));
    this.composer.addEventListener("submit", (event) => {
      event.preventDefault();
      this.say(this.line.value.trim());
    });
    const shortcut = element("button", { type: "button", class: "shortcut", title: "Global shortcut: Request leave", "aria-label": "Shortcut: Request leave" }, "⚡");
    shortcut.addEventListener("click", () => this.act({ kind: "shortcut", text: "request_leave" }));
    this.composer.prepend(shortcut);
    this.modal = element("div", { class: "cover", hidden: true });
    this.toast = element("p", { class: "toast", role: "status", hidden: true });
    this.behind = element("div", { class: "behind" },
      element("div", { role: "tablist", "aria-label": "Slack" }, ...this.tabs), this.view, this.composer);
    this.root = element("section", { class: "panel", id: `person-${number}` },
      element("header", {}, this.chooser, this.role), this.behind, this.modal, this.toast);
  }

  become(userId) {
    this.userId = userId;
    this.errors = {};
    this.drawn = {};
    version = "";
    refresh.now();
    if (this.tab === "home") {
      this.act({ kind: "open_home" });
    }
  }

  open(name) {
    this.tab = name;
    this.drawn.view = null;
    this.draw(this.screen);
    if (name === "home") {
      this.act({ kind: "open_home" });
    }
  }

  steer(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      const at = this.tabs.findIndex((tab) => tab.dataset.tab === this.tab);
      const next = this.tabs[(at + step + this.tabs.length) % this.tabs.length];
      this.open(next.dataset.tab);
      next.focus();
    }
  }

  say(text) {
    if (!text.startsWith("/")) {
      this.tell(`Hiatus listens to commands only: begin with ${COMMAND}.`);
      return;
    }
    const channel = this.tab === "channel" ? this.screen.channels[0].id : "";
    this.act({ kind: "command", text, channel });
    this.line.value = `${COMMAND} `;
    if (this.tab === "home") {
      this.open("messages");
    }
  }

  // Does something as this person; what comes of it arrives with the next state.
  async act(what) {
    let answer;
    this.root.classList.add("busy");
    try {
      answer = await call("playground/act", { user: this.userId, ...what });
    } catch {
      answer = { ok: false, problem: "The server is gone." };
    }
    this.root.classList.remove("busy");
    if (answer.problem) {
      this.tell(answer.problem);
    }
    refresh.now();
    return answer;
  }

  tell(sentence) {
    this.toast.textContent = sentence;
    this.toast.hidden = false;
    clearTimeout(this.fading);
    this.fading = setTimeout(() => (this.toast.hidden = true), 6000);
  }

  draw(screen) {
    if (!screen) {
      return;
    }
    this.screen = screen;
    const me = people.find((one) => one.id === this.userId);
    this.role.textContent = me ? me.title : "";
    this.chooser.value = this.userId;
    for (const tab of this.tabs) {
      const isOpen = tab.dataset.tab === this.tab;
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
    }
    this.view.setAttribute("aria-labelledby", `tab-${this.number}-${this.tab}`);
    const shown = { messages: screen.messages, home: screen.home, channel: screen.channels[0].messages }[this.tab];
    this.redraw("view", [this.tab, shown], () => this.drawView(shown));
    this.redraw("modal", [screen.modal, this.errors], () => this.drawModal(screen.modal));
  }

  // Draws only what has changed: what a person is about to press must not move or lose the focus.
  redraw(name, shown, draw) {
    const key = JSON.stringify(shown);
    if (this.drawn[name] !== key) {
      this.drawn[name] = key;
      draw();
    }
  }

  drawView(shown) {
    if (this.tab === "home") {
      const scene = shown && this.scene(shown, (act) => this.act({ ...act, view_id: shown.id, filled: fieldsIn(this.view) }));
      keepingFocus(this.view, () => this.view.replaceChildren(
        ...(shown ? drawBlocks(shown.blocks, scene) : [empty("Hiatus fills this tab when you open it.")])));
      return;
    }
    const isAtEnd = this.view.scrollHeight - this.view.scrollTop - this.view.clientHeight < 80;
    const words = this.tab === "messages" ? `Nothing here yet. Try ${COMMAND} help.` : "Nothing here yet.";
    const messages = shown.map((message) => this.drawMessage(message));
    keepingFocus(this.view, () => this.view.replaceChildren(...(messages.length ? messages : [empty(words)])));
    if (isAtEnd || !this.wasAt || this.wasAt !== this.tab) {
      this.view.scrollTop = this.view.scrollHeight;
    }
    this.wasAt = this.tab;
  }

  drawMessage(message) {
    const scene = this.scene({ values: {} }, (act) => this.act({ ...act, kind: "click", channel: message.channel, ts: message.ts }));
    const time = new Date(Number(message.ts.split(".")[0]) * 1000);
    const head = element("p", { class: "head" }, element("b", {}, "Hiatus"), element("span", { class: "badge" }, "APP"),
      element("time", { datetime: time.toISOString() }, time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })));
    if (message.edited) {
      head.append(element("span", { class: "edited" }, "(edited)"));
    }
    const body = message.blocks.length ? drawBlocks(message.blocks, scene) : [element("div", { class: "block" }, ...mrkdwn(message.text, people))];
    const drawn = element("article", { class: "message" }, head, ...body);
    if (message.ephemeral) {
      drawn.classList.add("ephemeral");
      drawn.prepend(element("p", { class: "only" }, "Only visible to you"));
    }
    if (message.thread_ts && message.thread_ts !== message.ts) {
      drawn.classList.add("reply");
      drawn.prepend(element("p", { class: "only" }, "Replied in a thread"));
    }
    return drawn;
  }

  scene(view, act) {
    return {
      people,
      channels: this.screen.channels,
      values: view.values,
      errors: this.errors,
      act: (block, of, value) => act({ kind: "pick", block_id: block.block_id, action_id: of.action_id, value }),
      suggest: async (block, of, text) => {
        const asked = { kind: "suggest", view_id: view.id, block_id: block.block_id, action_id: of.action_id, text };
        return (await this.act(asked)).options || [];
      },
      confirm: ask,
    };
  }

  drawModal(modal) {
    const wasOpen = !this.modal.hidden;
    this.behind.inert = Boolean(modal);
    this.modal.hidden = !modal;
    if (!modal) {
      this.modal.replaceChildren();
      if (wasOpen) {
        this.line.focus({ preventScroll: true });
      }
      return;
    }
    const isSame = this.modal.dataset.id === modal.id;
    if (isSame) {
      keepWhatIsTyped(modal, this.typedSince);
    }
    const form = this.formOf(modal);
    keepingFocus(this.modal, () => this.modal.replaceChildren(form));
    this.modal.dataset.id = modal.id;
    this.typedSince = Object.fromEntries(fieldsIn(form).map(([block, action, value]) => [`${block}/${action}`, JSON.stringify(value)]));
    if (!isSame) {
      const first = form.querySelector("[data-focus]") || form.querySelector(".blocks :is(input,select,textarea,button)") || form.querySelector("button");
      (first.matches("input,select,textarea,button") ? first : first.querySelector("input") || first).focus({ preventScroll: true });
    }
  }

  formOf(modal) {
    const titleId = `title-${this.number}`;
    const shut = () => this.act({ kind: "close", view_id: modal.id });
    const cross = element("button", { type: "button", class: "cross", "aria-label": "Close all" }, "✕");
    cross.addEventListener("click", () => this.act({ kind: "close", view_id: modal.id, is_cleared: true }));
    const cancel = element("button", { type: "button", class: "button" }, modal.close || (modal.submit ? "Cancel" : "Close"));
    cancel.addEventListener("click", shut);
    const footer = element("footer", {}, cancel);
    if (modal.submit) {
      footer.append(element("button", { class: "button primary" }, modal.submit));
    }
    const back = modal.depth > 1 ? element("button", { type: "button", class: "cross", "aria-label": "Back" }, "‹") : "";
    if (back) {
      back.addEventListener("click", shut);
    }
    const scene = this.scene(modal, (act) => {
      this.errors = {};
      return this.act({ ...act, view_id: modal.id, filled: fieldsIn(form) });
    });
    const blocks = element("div", { class: "blocks" }, ...drawBlocks(modal.blocks, scene));
    if (this.errors[""]) {
      blocks.prepend(element("p", { class: "error", role: "alert" }, `Slack would say that something went wrong (${this.errors[""]}).`));
    }
    const form = element("form", { class: "modal", role: "dialog", "aria-labelledby": titleId },
      element("header", {}, back, element("h2", { id: titleId }, modal.title), cross), blocks, footer);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(modal, form);
    });
    form.addEventListener("keydown", (event) => event.key === "Escape" && shut());
    return form;
  }

  async send(modal, form) {
    const answer = await this.act({ kind: "submit", view_id: modal.id, filled: fieldsIn(form) });
    this.errors = answer.errors || {};
    if (Object.keys(this.errors).length) {
      this.draw(this.screen);
      this.modal.querySelector("[aria-invalid]")?.focus();
    }
  }
}

// A form that changes under somebody's hands keeps what was typed into fields that are still there.
function keepWhatIsTyped(modal, known) {
  const form = document.querySelector(`[data-id="${modal.id}"] form`);
  for (const [blockId, actionId, value] of form ? fieldsIn(form) : []) {
    const state = (modal.values[blockId] || {})[actionId];
    const isTyped = known[`${blockId}/${actionId}`] !== JSON.stringify(value);
    if (state && isTyped && "value" in state && typeof value === "string") {
      state.value = value;
    }
  }
}

function keepingFocus(root, change) {
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  const all = () => [...root.querySelectorAll("button,input,select,textarea,summary,a,[tabindex]")];
  const at = focused ? all().indexOf(focused) : -1;
  const key = focused?.closest("[data-field]")?.dataset.field;
  const top = root.querySelector(".blocks")?.scrollTop;
  const selection = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : null;
  change();
  if (top && root.querySelector(".blocks")) {
    root.querySelector(".blocks").scrollTop = top;
  }
  if (!focused || focused === root) {
    return;
  }
  const same = key && root.querySelector(`[data-field='${CSS.escape(key).replace(/\\(["[\],{} ])/g, "$1")}']`);
  const target = (same && (same.matches("input,select,textarea") ? same : same.querySelector("input"))) || all()[at];
  target?.focus({ preventScroll: true });
  if (target && selection && selection[0] !== null && target.value === focused.value && target.setSelectionRange) {
    target.setSelectionRange(...selection);
  }
}

// A confirmation dialog of Block Kit's; whether it was confirmed.
function ask(dialog) {
  return new Promise((answer) => {
    const yes = element("button", { value: "yes", class: `button ${dialog.style === "danger" ? "danger" : "primary"}` }, dialog.confirm.text);
    const no = element("button", { value: "no", class: "button" }, dialog.deny.text);
    const words = dialog.text.type === "mrkdwn" ? mrkdwn(dialog.text.text, people) : [dialog.text.text];
    const shown = element("dialog", { "aria-label": dialog.title.text },
      element("form", { method: "dialog" }, element("h2", {}, dialog.title.text), element("div", { class: "words" }, ...words), element("footer", {}, no, yes)));
    shown.addEventListener("close", () => {
      shown.remove();
      answer(shown.returnValue === "yes");
    });
    document.body.append(shown);
    shown.showModal();
    yes.focus();
  });
}

function empty(words) {
  return element("p", { class: "empty" }, words);
}

// Asks for what is new, and waits at the server for it; at once after something was done.
const refresh = {
  asking: null,
  async now() {
    this.asking?.abort();
    const mine = new AbortController();
    this.asking = mine;
    try {
      const shown = panels.map((panel) => panel.userId).join(",");
      const answer = await fetch(`playground/state?people=${shown}&after=${version}`, { signal: mine.signal });
      const state = await answer.json();
      if (mine.signal.aborted) {
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
  if (JSON.stringify(people) !== JSON.stringify(state.people)) {
    people = state.people;
    for (const panel of panels) {
      panel.chooser.replaceChildren(...people.map((one) => element("option", { value: one.id }, one.name)));
    }
  }
  for (const panel of panels) {
    panel.draw(state.screens[panel.userId]);
  }
}

panels = FIRST.map((userId, index) => {
  const panel = new Panel(index + 1);
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
  version = "";
  refresh.now();
});
refresh.now();
