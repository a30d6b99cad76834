// A form over one person's Slack, and Block Kit's confirmation dialogs.

import { fieldsIn } from "./playground-controls.js";
import { element, mrkdwn } from "./playground-text.js";

// The form of one panel. `panel` acts as its person, draws blocks, and has the `errors` of the last
// submission.
export class Modal {
  constructor(panel) {
    this.panel = panel;
    this.cover = element("div", { class: "cover", hidden: true });
  }

  draw(modal) {
    const { panel, cover } = this;
    const wasOpen = !cover.hidden;
    panel.behind.inert = Boolean(modal);
    cover.hidden = !modal;
    if (!modal) {
      cover.replaceChildren();
      delete cover.dataset.frame;
      if (wasOpen) {
        panel.line.focus({ preventScroll: true });
      }
      return;
    }
    const frame = JSON.stringify([modal.id, modal.title, modal.submit, modal.close, modal.depth]);
    const isSame = cover.dataset.frame === frame;
    if (!isSame) {
      cover.dataset.frame = frame;
      cover.replaceChildren(this.frameOf(modal));
    }
    const form = cover.querySelector("form");
    const blocks = form.querySelector(".blocks");
    panel.drawInto(blocks, modal, (what) => {
      panel.errors = {};
      return panel.act({ ...what, view_id: modal.id, filled: fieldsIn(blocks) });
    });
    const broken = form.querySelector(".broken");
    broken.hidden = !panel.errors[""];
    broken.textContent = panel.errors[""] ? `Slack would say that something went wrong (${panel.errors[""]}).` : "";
    if (!isSame) {
      const first = form.querySelector("[data-focus]") || form.querySelector(".blocks :is(input,select,textarea,button)") || form.querySelector("button");
      (first.matches("input,select,textarea,button") ? first : first.querySelector("input") || first).focus({ preventScroll: true });
    }
  }

  frameOf(modal) {
    const { panel } = this;
    const titleId = `title-${panel.number}`;
    const shut = () => panel.act({ kind: "close", view_id: modal.id });
    const cross = element("button", { type: "button", class: "cross", "aria-label": "Close all" }, "✕");
    cross.addEventListener("click", () => panel.act({ kind: "close", view_id: modal.id, is_cleared: true }));
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
    const form = element("form", { class: "modal" },
      element("header", {}, back, element("h2", { id: titleId }, modal.title), cross), broken,
      element("div", { class: "blocks", tabindex: "-1" }), footer);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(modal, form);
    });
    form.addEventListener("keydown", (event) => event.key === "Escape" && shut());
    return element("div", { class: "dialog", role: "dialog", "aria-labelledby": titleId }, form);
  }

  async send(modal, form) {
    const { panel } = this;
    const answer = await panel.act({ kind: "submit", view_id: modal.id, filled: fieldsIn(form) });
    panel.errors = answer.errors || {};
    if (Object.keys(panel.errors).length) {
      // The fields at fault are drawn again, with what was typed into them.
      await panel.world.refresh(true);
      this.cover.querySelector("[aria-invalid]")?.focus();
    }
  }
}

// A confirmation dialog of Block Kit's; whether it was confirmed.
export function ask(dialog, people) {
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
