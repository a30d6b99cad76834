// One person's Slack. A world: `people`, `command`, `call(path, body)`, `refresh(isAfresh)`,
// `announce(words)`, `acted(number, kind)`.

import { drawBlocks } from "./playground-blocks.js";
import { fieldsIn } from "./playground-controls.js";
import { conversation, thread } from "./playground-messages.js";
import { Modal, ask } from "./playground-modal.js";
import { patch, untouched } from "./playground-patch.js";
import { element, mrkdwn } from "./playground-text.js";
import { Unread } from "./playground-unread.js";

const LANGUAGES = { "en-GB": "English", "de-DE": "Deutsch", "es-ES": "Español", "fr-FR": "Français" };
const TABS = { messages: "Hiatus", home: "Home", channel: "#general" };

// One person's window: the conversation with Hiatus, the Home tab, a channel, and a form on top.
export class Panel {
  constructor(number, userId, world) {
    this.number = number;
    this.userId = userId;
    this.world = world;
    this.lastAct = Promise.resolve();
    this.clear();
    this.chooser = element("select", { "aria-label": "Who is this?" });
    this.chooser.addEventListener("change", () => this.become(this.chooser.value));
    this.role = element("span", { class: "role" });
    this.language = element("select", { class: "language", "aria-label": "Language" },
      ...Object.entries(LANGUAGES).map(([value, name]) => element("option", { value, title: name }, value.slice(0, 2).toUpperCase())));
    this.language.addEventListener("change", () => this.act({ kind: "language", text: this.language.value }));
    this.tabs = Object.keys(TABS).map((name) => this.tabNamed(name));
    this.view = element("div", { class: "view", role: "tabpanel", id: `view-${number}`, tabindex: "0" });
    this.line = element("input", { type: "text", autocomplete: "off", spellcheck: "false", value: this.world.command, "aria-label": "Message Hiatus" });
    this.composer = element("form", { class: "composer" }, this.shortcut(), this.line, element("button", { class: "button primary" }, "Send"));
    this.composer.addEventListener("submit", (event) => {
      event.preventDefault();
      this.say(this.line.value.trim());
    });
    this.threadHead = this.headOfThread();
    this.toast = element("p", { class: "toast", role: "status", hidden: true });
    this.behind = element("div", { class: "behind" },
      element("div", { role: "tablist", "aria-label": "Slack" }, ...this.tabs), this.threadHead, this.view, this.composer);
    this.modal = new Modal(this);
    this.root = element("section", { class: "panel", id: `person-${number}` },
      element("header", {}, this.chooser, this.role, this.language), this.behind, this.modal.cover, this.toast);
    // Who looks at a panel has seen its messages.
    for (const event of ["focusin", "pointerdown"]) {
      this.root.addEventListener(event, () => this.read());
    }
  }

  // As a Slack that was never used.
  clear() {
    this.tab = this.tab || "messages";
    this.openThread = "";
    this.errors = {};
    this.drawn = {};
    this.unread = new Unread();
  }

  tabNamed(name) {
    const tab = element("button", { type: "button", role: "tab", id: `tab-${this.number}-${name}`, "aria-controls": `view-${this.number}` }, TABS[name]);
    tab.addEventListener("click", () => this.open(name));
    tab.addEventListener("keydown", (event) => this.steer(event));
    tab.dataset.tab = name;
    return tab;
  }

  shortcut() {
    const button = element("button", { type: "button", class: "shortcut", title: "Global shortcut: Request leave", "aria-label": "Shortcut: Request leave" }, "⚡");
    button.addEventListener("click", () => this.act({ kind: "shortcut", text: "request_leave" }));
    return button;
  }

  headOfThread() {
    const cross = element("button", { type: "button", class: "cross", "aria-label": "Close thread" }, "✕");
    cross.addEventListener("click", () => this.showThread(""));
    const head = element("div", { class: "thread-head", hidden: true }, element("h2", {}, "Thread"), cross);
    head.addEventListener("keydown", (event) => event.key === "Escape" && this.showThread(""));
    return head;
  }

  become(userId) {
    this.userId = userId;
    this.openThread = "";
    this.errors = {};
    this.drawn = {};
    this.world.refresh(true);
    if (this.tab === "home") {
      this.act({ kind: "open_home" });
    }
  }

  open(name) {
    this.unread.removeLine(this.nameOf(this.tab));
    this.tab = name;
    this.openThread = "";
    this.drawn.view = null;
    this.read();
    this.draw(this.screen);
    if (name === "home") {
      this.act({ kind: "open_home" });
    }
  }

  showThread(ts) {
    const last = this.openThread;
    this.openThread = ts;
    this.draw(this.screen);
    const target = ts ? this.threadHead.querySelector("button") : this.view.querySelector(`[data-thread="${last}"]`);
    (target || this.view).focus();
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
    if (!text) {
      return;
    }
    const isCommand = text.startsWith("/");
    if (!isCommand && this.tab === "channel") {
      this.tell(`Hiatus doesn't read channels. Write to it under “${TABS.messages}”, or begin with ${this.world.command}.`);
      return;
    }
    const channel = this.tab === "channel" ? this.screen.channels[0].id : "";
    this.act(isCommand ? { kind: "command", text, channel } : { kind: "write", text });
    this.line.value = isCommand ? `${this.world.command} ` : "";
    if (this.tab === "home") {
      this.open("messages");
    }
  }

  // Does something as this person; what comes of it arrives with the next state. One after the
  // other: each says what the whole form holds, so an earlier one that came later would undo it.
  act(what) {
    const asked = { user: this.userId, ...what };
    this.unread.removeLine(this.nameOf(this.tab));
    const done = this.lastAct.then(() => this.actNow(asked));
    this.lastAct = done;
    return done;
  }

  async actNow(asked) {
    let answer;
    this.root.classList.add("busy");
    try {
      answer = await this.world.call("playground/act", asked);
    } catch {
      answer = { ok: false, problem: "The server is gone." };
    }
    this.root.classList.remove("busy");
    if (answer.problem) {
      this.tell(answer.problem);
    } else if (!Object.keys(answer.errors || {}).length) {
      this.world.acted(this.number, asked.kind);
    }
    this.world.refresh();
    return answer;
  }

  tell(sentence) {
    this.toast.textContent = sentence;
    this.toast.hidden = false;
    clearTimeout(this.fading);
    this.fading = setTimeout(() => (this.toast.hidden = true), 6000);
  }

  // The name of one of this person's conversations for `Unread`.
  nameOf(tab) {
    return `${this.userId} ${tab}`;
  }

  read() {
    this.unread.read(this.nameOf(this.tab));
    this.drawTabs();
  }

  // Counts the new messages of both conversations, and has them read aloud.
  hear(screen) {
    const me = this.world.people.find((one) => one.id === this.userId);
    const isActive = document.hasFocus() && this.root.contains(document.activeElement);
    for (const [tab, messages] of Object.entries({ messages: screen.messages, channel: screen.channels[0].messages })) {
      const arrived = this.unread.take(this.nameOf(tab), messages, isActive && tab === this.tab);
      for (const message of arrived) {
        const words = element("p", {}, ...mrkdwn(message.text, this.world.people)).textContent;
        this.world.announce(`${me ? me.name : ""}, ${TABS[tab]}: ${words}`);
      }
    }
    this.role.textContent = me ? me.title : "";
    this.language.value = me ? me.locale : "";
  }

  draw(screen) {
    if (!screen) {
      return;
    }
    this.screen = screen;
    this.hear(screen);
    this.chooser.value = this.userId;
    this.drawTabs();
    this.view.setAttribute("aria-labelledby", `tab-${this.number}-${this.tab}`);
    const shown = { messages: screen.messages, home: screen.home, channel: screen.channels[0].messages }[this.tab];
    const root = this.tab === "home" ? null : shown.find((message) => message.ts === this.openThread && message.replies.length);
    this.composer.hidden = Boolean(root);
    this.threadHead.hidden = !root;
    const line = this.unread.line(this.nameOf(this.tab));
    this.redraw("view", [this.tab, root ? root.ts : "", line, shown], () => this.drawView(shown, root, line));
    this.redraw("modal", [screen.modal, this.errors], () => this.modal.draw(screen.modal));
  }

  drawTabs() {
    for (const tab of this.tabs) {
      const isOpen = tab.dataset.tab === this.tab;
      const count = this.unread.count(this.nameOf(tab.dataset.tab));
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
      tab.classList.toggle("unread", Boolean(count));
      tab.replaceChildren(TABS[tab.dataset.tab], ...(count ? [" ", element("span", { class: "count" }, String(count), element("span", { class: "heard" }, " new"))] : []));
    }
  }

  // Draws only what has changed: what a person is about to press must not move or lose the focus.
  redraw(name, shown, draw) {
    const key = JSON.stringify(shown);
    if (this.drawn[name] !== key) {
      this.drawn[name] = key;
      draw();
    }
  }

  drawView(shown, root, line) {
    const isAtEnd = this.view.scrollHeight - this.view.scrollTop - this.view.clientHeight < 80;
    const place = `${this.tab} ${root ? root.ts : ""}`;
    const how = {
      line, people: this.world.people, open: (message) => this.showThread(message.ts),
      scene: (message) => this.scene({ values: {} }, (act) => this.act({ ...act, kind: "click", channel: message.channel, ts: message.ts })),
    };
    if (this.tab === "home" && shown) {
      const act = (what) => this.act({ ...what, view_id: shown.id, filled: fieldsIn(this.view) });
      this.drawInto(this.view, shown, act);
    } else if (root) {
      patch(this.view, thread(root, how));
    } else if (this.tab !== "home" && shown.length) {
      patch(this.view, conversation(shown, how));
    } else {
      const words = { home: "Hiatus fills this tab when you open it.", messages: `Nothing here yet. Try ${this.world.command} help.` };
      patch(this.view, [[this.tab, () => element("p", { class: "empty" }, words[this.tab] || "Nothing here yet.")]]);
    }
    if (this.tab !== "home" && (isAtEnd || this.wasAt !== place)) {
      this.view.scrollTop = this.view.scrollHeight;
    }
    this.wasAt = place;
  }

  // Blocks that look as before stay as they are, with whatever was typed into them.
  drawInto(root, view, act) {
    const scene = this.scene(view, act);
    patch(root, view.blocks.map((block) => {
      const error = this.errors[block.block_id] || "";
      return [JSON.stringify([view.id, untouched(block), error]), () => drawBlocks([block], scene)];
    }));
  }

  scene(view, act) {
    return {
      people: this.world.people,
      channels: this.screen.channels,
      values: view.values,
      errors: this.errors,
      act: (block, of, value) => act({ kind: "pick", block_id: block.block_id, action_id: of.action_id, value }),
      suggest: async (block, of, text) => {
        const asked = { kind: "suggest", view_id: view.id, block_id: block.block_id, action_id: of.action_id, text };
        return (await this.act(asked)).groups || [];
      },
      confirm: (dialog) => ask(dialog, this.world.people),
      openHome: () => this.open("home"),
    };
  }
}
