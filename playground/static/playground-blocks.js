// Block Kit's blocks as elements.
//
// A scene: `people`, `channels`, `act(block, element, value)`, `suggest(block, element, typed)`,
// `values` (what is filled in, by block id and action id), `errors` (by block id), `confirm(dialog)`.

import { control, isGroup, undrawn } from "./playground-controls.js";
import { anchor, element, emoji, mention, plainOf, textOf } from "./playground-text.js";

let lastId = 0;

export function drawBlocks(blocks, scene) {
  return blocks.map((block) => {
    const draw = BLOCKS[block.type];
    const drawn = draw ? draw(block, scene) : undrawn(block.type);
    drawn.classList.add("block", `block-${block.type}`);
    return drawn;
  });
}

const BLOCKS = {
  header: (block) => element("h2", {}, plainOf(block.text)),
  divider: () => element("hr"),
  section,
  context: (block, scene) =>
    element("div", {}, ...block.elements.map((one) =>
      one.type === "image" ? picture(one) : element("span", {}, ...textOf(one, scene.people)))),
  actions: (block, scene) =>
    element("div", { role: "group" }, ...block.elements.map((one) => control(block, one, scene))),
  input,
  image: (block) => element("figure", {}, picture(block), plainOf(block.title)),
  rich_text: (block, scene) => element("div", {}, ...block.elements.map((one) => richText(one, scene.people))),
  card,
  alert,
  table,
};

function section(block, scene) {
  const words = element("div", { class: "words" });
  if (block.text) {
    words.append(element("div", {}, ...textOf(block.text, scene.people)));
  }
  if (block.fields) {
    const fields = block.fields.map((one) => element("div", {}, ...textOf(one, scene.people)));
    words.append(element("div", { class: "fields" }, ...fields));
  }
  const drawn = element("div", {}, words);
  if (block.accessory) {
    const held = block.accessory.type === "image" ? picture(block.accessory) : control(block, block.accessory, scene);
    drawn.append(element("div", { class: "accessory" }, held));
  }
  return drawn;
}

function input(block, scene) {
  const of = block.element;
  const id = `field-${++lastId}`;
  const hasMany = isGroup(of);
  const label = element(hasMany ? "legend" : "label", hasMany ? {} : { for: id }, plainOf(block.label));
  if (block.optional) {
    label.append(element("span", { class: "optional" }, " (optional)"));
  }
  const field = control(block, of, scene, { id, required: !block.optional, isInput: true });
  const drawn = element(hasMany ? "fieldset" : "div", {}, label, field);
  const notes = [];
  if (block.hint) {
    notes.push(element("p", { class: "hint", id: `${id}-hint` }, plainOf(block.hint)));
  }
  const error = scene.errors[block.block_id];
  if (error) {
    notes.push(element("p", { class: "error", id: `${id}-error`, role: "alert" }, error));
    (field.matches("input,select,textarea") ? field : drawn).setAttribute("aria-invalid", "true");
  }
  if (notes.length) {
    const target = field.matches("input,select,textarea") ? field : drawn;
    target.setAttribute("aria-describedby", notes.map((one) => one.id).join(" "));
  }
  drawn.append(...notes);
  return drawn;
}

function card(block, scene) {
  const drawn = element("div", { role: "group", "aria-label": plainOf(block.title) });
  if (block.hero_image) {
    drawn.append(element("div", { class: "hero" }, picture(block.hero_image)));
  }
  const words = ["title", "subtitle", "body"].filter((name) => block[name]).map((name) =>
    element("div", { class: name }, ...textOf(block[name], scene.people)));
  drawn.append(element("div", { class: "face" }, ...(block.icon ? [picture(block.icon)] : []), element("div", {}, ...words)));
  if (block.actions?.length) {
    drawn.append(element("div", { class: "actions" }, ...asOnCards(block.actions).map((one) => control(block, one, scene))));
  }
  return drawn;
}

// Slack places a card's buttons itself: the danger button first, the primary one last.
function asOnCards(buttons) {
  const rank = { danger: 0, primary: 2 };
  return buttons.toSorted((one, other) => (rank[one.style] ?? 1) - (rank[other.style] ?? 1));
}

const SIGNS = { info: "ℹ", warning: "⚠", error: "⨯", success: "✓" };

function alert(block, scene) {
  const level = SIGNS[block.level] ? block.level : "default";
  return element("div", { class: `level-${level}`, role: level === "error" ? "alert" : "status" },
    element("span", { class: "sign", "aria-hidden": "true" }, SIGNS[level] || "●"),
    element("div", {}, ...textOf(block.text, scene.people)));
}

function table(block, scene) {
  const settings = block.column_settings || [];
  const rows = block.rows.map((row, at) => element("tr", {}, ...row.map((cell, column) => {
    const { align = "left", is_wrapped: isWrapped } = settings[column] || {};
    const classes = `${["center", "right"].includes(align) ? align : "left"} ${isWrapped ? "wrapped" : ""}`;
    const words = cell.type === "rich_text" ? cell.elements.map((one) => richText(one, scene.people)) : [cell.text];
    return element(at ? "td" : "th", { class: classes, scope: at ? null : "col" }, ...words);
  })));
  // It scrolls sideways: reachable with the keyboard, too.
  return element("div", { role: "group", "aria-label": "Table", tabindex: "0" }, element("table", {}, ...rows));
}

function picture(of) {
  // Pictures live elsewhere, and this page loads nothing from elsewhere.
  return element("span", { class: "picture" }, of.alt_text || "picture");
}

function richText(one, people) {
  if (one.type === "rich_text_list") {
    return element(one.style === "ordered" ? "ol" : "ul", {}, ...one.elements.map((item) => element("li", {}, richText(item, people))));
  }
  if (one.elements) {
    const name = { rich_text_preformatted: "pre", rich_text_quote: "blockquote" }[one.type] || "span";
    return element(name, {}, ...one.elements.map((inner) => richText(inner, people)));
  }
  return styled(one.style || {}, richTextPart(one, people));
}

function richTextPart(one, people) {
  const parts = {
    link: () => anchor(one.url, one.text || one.url),
    emoji: () => document.createTextNode(emoji(one)),
    user: () => mention(one.user_id, people),
  };
  return (parts[one.type] || (() => document.createTextNode(one.text || one.fallback || one.range || "")))();
}

function styled(style, words) {
  const names = Object.entries({ code: "code", strike: "s", italic: "em", bold: "strong" });
  return names.reduce((inner, [key, name]) => (style[key] ? element(name, {}, inner) : inner), words);
}
