// One person's Slack. A world: `people`, `command`, `call(path, body)`, `refresh(isAfresh)`.

import { drawBlocks, fieldsIn } from "./playground-blocks.js";
import { element, mrkdwn } from "./playground-text.js";

// One person's window: a list of messages, the Home tab, a channel, and a form on top of them.
export class Panel {
  constructor(number, world) {
    this.number = number;
    this.world = world;
    this.tab = "messages";
    this.errors = {};
    this.drawn = {};
    this.lastAct = Promise.resolve();
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
    this.line = element("input", { type: "text", autocomplete: "off", spellcheck: "false", value: this.world.command, "aria-label": "Message Hiatus" });
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
    this.world.refresh(true);
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
      this.tell(`Hiatus listens to commands only: begin with ${this.world.command}.`);
      return;
    }
    const channel = this.tab === "channel" ? this.screen.channels[0].id : "";
    this.act({ kind: "command", text, channel });
    this.line.value = `${this.world.command} `;
    if (this.tab === "home") {
      this.open("messages");
    }
  }

  // Does something as this person; what comes of it arrives with the next state. One after the
  // other: each says what the whole form holds, so an earlier one that came later would undo it.
  act(what) {
    const asked = { user: this.userId, ...what };
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

  draw(screen) {
    if (!screen) {
      return;
    }
    this.screen = screen;
    const me = this.world.people.find((one) => one.id === this.userId);
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
    const isAtEnd = this.view.scrollHeight - this.view.scrollTop - this.view.clientHeight < 80;
    if (this.tab === "home" && shown) {
      const act = (what) => this.act({ ...what, view_id: shown.id, filled: fieldsIn(this.view) });
      this.drawInto(this.view, shown, act);
    } else if (this.tab !== "home" && shown.length) {
      const one = (message) => () => [this.drawMessage(message)];
      patch(this.view, shown.map((message) => [JSON.stringify(message), one(message)]));
    } else {
      const words = { home: "Hiatus fills this tab when you open it.", messages: `Nothing here yet. Try ${this.world.command} help.` };
      patch(this.view, [[this.tab, () => [empty(words[this.tab] || "Nothing here yet.")]]]);
    }
    if (this.tab !== "home" && (isAtEnd || this.wasAt !== this.tab)) {
      this.view.scrollTop = this.view.scrollHeight;
    }
    this.wasAt = this.tab;
  }

  // Blocks that look as before stay as they are, with whatever was typed into them.
  drawInto(root, view, act) {
    const scene = this.scene(view, act);
    patch(root, view.blocks.map((block) => {
      const error = this.errors[block.block_id] || "";
      return [JSON.stringify([view.id, untouched(block), error]), () => drawBlocks([block], scene)];
    }));
  }

  drawMessage(message) {
    const scene = this.scene({ values: {} }, (act) => this.act({ ...act, kind: "click", channel: message.channel, ts: message.ts }));
    const time = new Date(Number(message.ts.split(".")[0]) * 1000);
    const head = element("p", { class: "head" }, element("b", {}, "Hiatus"), element("span", { class: "badge" }, "APP"),
      element("time", { datetime: time.toISOString() }, time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })));
    if (message.edited) {
      head.append(element("span", { class: "edited" }, "(edited)"));
    }
    const body = message.blocks.length ? drawBlocks(message.blocks, scene) : [element("div", { class: "block" }, ...mrkdwn(message.text, this.world.people))];
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
    };
  }

  drawModal(modal) {
    const wasOpen = !this.modal.hidden;
    this.behind.inert = Boolean(modal);
    this.modal.hidden = !modal;
    if (!modal) {
      this.modal.replaceChildren();
      delete this.modal.dataset.frame;
      if (wasOpen) {
        this.line.focus({ preventScroll: true });
      }
      return;
    }
    const frame = JSON.stringify([modal.id, modal.title, modal.submit, modal.close, modal.depth]);
    const isSame = this.modal.dataset.frame === frame;
    if (!isSame) {
      this.modal.dataset.frame = frame;
      this.modal.replaceChildren(this.frameOf(modal));
    }
    const form = this.modal.firstElementChild;
    const blocks = form.querySelector(".blocks");
    this.drawInto(blocks, modal, (what) => {
      this.errors = {};
      return this.act({ ...what, view_id: modal.id, filled: fieldsIn(blocks) });
    });
    const broken = form.querySelector(".broken");
    broken.hidden = !this.errors[""];
    broken.textContent = this.errors[""] ? `Slack would say that something went wrong (${this.errors[""]}).` : "";
    if (!isSame) {
      const first = form.querySelector("[data-focus]") || form.querySelector(".blocks :is(input,select,textarea,button)") || form.querySelector("button");
      (first.matches("input,select,textarea,button") ? first : first.querySelector("input") || first).focus({ preventScroll: true });
    }
  }

  frameOf(modal) {
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
    const broken = element("p", { class: "error broken", role: "alert", hidden: true });
    const form = element("form", { class: "modal", role: "dialog", "aria-labelledby": titleId },
      element("header", {}, back, element("h2", { id: titleId }, modal.title), cross), broken, element("div", { class: "blocks" }), footer);
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
      // The fields at fault are drawn again, with what was typed into them.
      await this.world.refresh(true);
      this.modal.querySelector("[aria-invalid]")?.focus();
    }
  }
}

// A block without the values that it begins with: those are on the screen already.
function untouched(block) {
  if (block.type !== "input") {
    return block;
  }
  const kept = Object.entries(block.element).filter(([name]) => !name.startsWith("initial_"));
  return { ...block, element: Object.fromEntries(kept) };
}

// Makes the children those of `wanted`, [key, draw] each; a child whose key was there stays in its
// place, so that the focus and unsent text stay.
function patch(root, wanted) {
  const before = root.patched || new Map();
  const after = new Map();
  const nodes = wanted.flatMap(([name, draw], index) => {
    const key = after.has(name) ? `${name}#${index}` : name;
    const made = before.get(key) || draw();
    after.set(key, made);
    return made;
  });
  const stays = new Set(nodes);
  for (const child of [...root.childNodes]) {
    if (!stays.has(child)) {
      child.remove();
    }
  }
  nodes.forEach((node, index) => {
    if (root.childNodes[index] !== node) {
      root.insertBefore(node, root.childNodes[index] || null);
    }
  });
  root.patched = after;
}

// A confirmation dialog of Block Kit's; whether it was confirmed.
function ask(dialog, people) {
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
