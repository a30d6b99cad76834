// Block Kit's elements that are pressed, picked or typed into. Nothing is kept here: a scene's `act`,
// `suggest` and `confirm` do what a person asks for, and its `values` are what is filled in.

import { element, plainOf, textOf } from "./playground-text.js";

const STATEFUL = new Set([
  "static_select", "external_select", "users_select", "radio_buttons", "checkboxes", "datepicker",
  "timepicker", "plain_text_input", "number_input", "email_text_input", "url_text_input",
  "conversations_select", "channels_select", "multi_static_select", "multi_external_select",
]);
const INPUT_TYPES = {
  number_input: "number", email_text_input: "email", url_text_input: "url",
  datepicker: "date", timepicker: "time", plain_text_input: "text",
};
let lastId = 0;

// Every field's value as it stands on the screen: [block_id, action_id, value].
export function fieldsIn(root) {
  return [...root.querySelectorAll("[data-field]")].map((field) => {
    const [blockId, actionId] = JSON.parse(field.dataset.field);
    return [blockId, actionId, field.read()];
  });
}

export function control(block, of, scene, how = {}) {
  const draw = CONTROLS[of.type];
  if (!draw) {
    return undrawn(of.type);
  }
  const drawn = draw(block, of, scene, how);
  if (STATEFUL.has(of.type)) {
    drawn.dataset.field = JSON.stringify([block.block_id, of.action_id]);
  }
  if (!how.isInput && !drawn.hasAttribute("aria-label") && of.type !== "button" && of.type !== "overflow") {
    const field = drawn.querySelector("[role=combobox]") || drawn;
    field.setAttribute("aria-label", plainOf(of.placeholder) || plainOf(block.text) || "Choose");
  }
  if (of.focus_on_load) {
    drawn.dataset.focus = "yes";
  }
  return drawn;
}

// Whether the element is a group of fields rather than one.
export function isGroup(of) {
  return CONTROLS[of.type] === boxes;
}

const CONTROLS = {
  button,
  overflow,
  static_select: select,
  multi_static_select: boxes,
  users_select: select,
  channels_select: select,
  conversations_select: select,
  external_select: external,
  multi_external_select: externals,
  radio_buttons: boxes,
  checkboxes: boxes,
  datepicker: typed,
  timepicker: typed,
  plain_text_input: typed,
  number_input: typed,
  email_text_input: typed,
  url_text_input: typed,
};

function tells(block) {
  return block.type !== "input" || block.dispatch_action;
}

function button(block, of, scene) {
  const label = plainOf(of.text);
  const drawn = element(
    "button",
    { type: "button", class: `button ${of.style || ""}`, "aria-label": of.accessibility_label },
    label,
  );
  drawn.addEventListener("click", async () => {
    if (of.confirm && !(await scene.confirm(of.confirm))) {
      return;
    }
    if (of.url) {
      window.open(of.url, "_blank", "noopener");
    }
    scene.act(block, of, of.value ?? null);
  });
  return drawn;
}

function overflow(block, of, scene) {
  const menu = element("details", { class: "overflow" });
  const items = of.options.map((option) => {
    const opensHome = (option.url || "").startsWith("slack://");
    const item = option.url && !opensHome
      ? element("a", { class: "item", href: option.url, target: "_blank", rel: "noopener noreferrer" }, plainOf(option.text))
      : element("button", { type: "button", class: "item" }, plainOf(option.text));
    item.addEventListener("click", async () => {
      menu.open = false;
      if (opensHome) {
        scene.openHome();
      }
      if (!of.confirm || (await scene.confirm(of.confirm))) {
        scene.act(block, of, option.value);
      }
    });
    return item;
  });
  menu.append(element("summary", { class: "button", "aria-label": "More actions" }, "⋯"), element("div", { class: "menu" }, ...items));
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
      event.stopPropagation();
    }
  });
  return menu;
}

function select(block, of, scene, how) {
  const state = stateOf(block, of, scene);
  const drawn = element("select", { id: how.id, required: how.required });
  if (!(how.required && selectedIn(state))) {
    drawn.append(element("option", { value: "" }, plainOf(of.placeholder) || "Choose…"));
  }
  const groups = of.option_groups || [{ options: of.options || choices(of, scene) }];
  for (const group of groups) {
    const options = group.options.map((one) => element("option", { value: one.value }, plainOf(one.text)));
    drawn.append(...(group.label ? [element("optgroup", { label: plainOf(group.label) }, ...options)] : options));
  }
  drawn.value = selectedIn(state) ?? "";
  drawn.read = () => drawn.value || null;
  if (tells(block)) {
    drawn.addEventListener("change", async () => {
      if (of.confirm && !(await scene.confirm(of.confirm))) {
        drawn.value = selectedIn(state) ?? "";
        return;
      }
      scene.act(block, of, drawn.read());
    });
  }
  return drawn;
}

function choices(of, scene) {
  const things = of.type === "users_select" ? scene.people : scene.channels;
  const sign = of.type === "users_select" ? "" : "#";
  return things.map((one) => ({ value: one.id, text: { type: "plain_text", text: sign + one.name } }));
}

// Typing asks the app for options; they stand in a list below until one is picked.
function external(block, of, scene, how) {
  let picked = stateOf(block, of, scene).selected_option || null;
  let asked = 0;
  const listId = `options-${++lastId}`;
  const box = element("input", {
    id: how.id, type: "text", role: "combobox", autocomplete: "off", "aria-expanded": "false",
    "aria-controls": listId, required: how.required, placeholder: plainOf(of.placeholder) || "Search…",
  });
  box.value = picked ? plainOf(picked.text) : "";
  const list = element("ul", { id: listId, class: "menu", role: "listbox", hidden: true });
  const drawn = element("div", { class: "combobox" }, box, list);
  const shut = () => {
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
  };
  const pick = (option) => {
    picked = option;
    box.value = plainOf(option.text);
    shut();
    if (tells(block)) {
      scene.act(block, of, option);
    }
  };
  const search = async () => {
    const mine = ++asked;
    if (box.value.length < (of.min_query_length ?? 3)) {
      shut();
      return;
    }
    const groups = await scene.suggest(block, of, box.value);
    if (mine !== asked) {
      return;
    }
    list.replaceChildren(...groups.flatMap(({ label, options }) => [
      ...(label ? [element("li", { class: "group", role: "presentation" }, plainOf(label))] : []),
      ...options.map((option) => offered(option)),
    ]));
    if (!groups.length) {
      list.append(element("li", { class: "none" }, "No results"));
    }
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
  };
  const offered = (option) => {
    const item = element("li", { role: "option", tabindex: "-1" }, plainOf(option.text));
    item.addEventListener("click", () => pick(option));
    item.addEventListener("keydown", (event) => move(event, item, () => pick(option)));
    return item;
  };
  const items = () => [...list.querySelectorAll("[role=option]")];
  const move = (event, item, choose) => {
    const at = items().indexOf(item);
    const next = { ArrowDown: items()[at + 1], ArrowUp: items()[at - 1] || box }[event.key];
    if (next) {
      next.focus();
    } else if (event.key === "Enter") {
      choose();
      box.focus();
    } else if (event.key === "Escape") {
      shut();
      box.focus();
      event.stopPropagation();
    } else {
      return;
    }
    event.preventDefault();
  };
  box.addEventListener("input", () => {
    picked = null;
    search();
  });
  box.addEventListener("focus", () => list.hidden && !picked && search());
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && items().length) {
      items()[0].focus();
      event.preventDefault();
    } else if (event.key === "Escape" && !list.hidden) {
      shut();
      event.stopPropagation();
    }
  });
  // Not at once: a button below would move from under the pointer that is pressing it.
  drawn.addEventListener("focusout", () => {
    setTimeout(() => drawn.contains(document.activeElement) || shut(), 250);
  });
  drawn.read = () => picked;
  return drawn;
}

// What was picked stands above the search; pressing one takes it out.
function externals(block, of, scene, how) {
  let picked = stateOf(block, of, scene).selected_options || [];
  const list = element("div", { class: "picked" });
  const show = () => list.replaceChildren(...picked.map((option) => {
    const name = plainOf(option.text);
    const item = element("button", { type: "button", class: "button", "aria-label": `Remove ${name}` }, `${name} ✕`);
    item.addEventListener("click", () => change(picked.filter((one) => one !== option)));
    return item;
  }));
  const change = (options) => {
    picked = options;
    show();
    if (tells(block)) {
      scene.act(block, of, picked);
    }
  };
  const adding = Object.assign(Object.create(scene), {
    act: (_block, _of, option) => {
      search.querySelector("[role=combobox]").value = "";
      change([...picked.filter((one) => one.value !== option.value), option]);
    },
  });
  const search = external({ ...block, type: "actions" }, of, adding, { ...how, required: false });
  show();
  const drawn = element("div", {}, list, search);
  drawn.read = () => (picked.length ? picked : null);
  return drawn;
}

function boxes(block, of, scene, how) {
  const isMany = of.type !== "radio_buttons";
  const state = stateOf(block, of, scene);
  const chosen = isMany ? (state.selected_options || []).map((one) => one.value) : [selectedIn(state)];
  const name = `choice-${++lastId}`;
  const options = of.options || of.option_groups.flatMap((group) => group.options);
  const drawn = element("div", { class: "boxes", role: how.isInput ? null : "group" });
  const fields = options.map((option) => {
    const field = element("input", { type: isMany ? "checkbox" : "radio", name, value: option.value });
    field.checked = chosen.includes(option.value);
    const words = element("span", {}, ...textOf(option.text, scene.people));
    if (option.description) {
      words.append(element("small", {}, ...textOf(option.description, scene.people)));
    }
    drawn.append(element("label", {}, field, words));
    return field;
  });
  drawn.read = () => {
    const values = fields.filter((one) => one.checked).map((one) => one.value);
    return isMany ? values : (values[0] ?? null);
  };
  const complain = () => {
    const isMissing = how.required && !fields.some((one) => one.checked);
    fields[0]?.setCustomValidity(isMissing ? "Choose at least one." : "");
  };
  complain();
  drawn.addEventListener("change", complain);
  if (tells(block)) {
    drawn.addEventListener("change", () => scene.act(block, of, drawn.read()));
  }
  return drawn;
}

function typed(block, of, scene, how) {
  const state = stateOf(block, of, scene);
  const isLong = of.type === "plain_text_input" && of.multiline;
  const attributes = {
    id: how.id, required: how.required, minlength: of.min_length, maxlength: of.max_length,
    placeholder: plainOf(of.placeholder), min: of.min_value, max: of.max_value,
  };
  const drawn = isLong
    ? element("textarea", { ...attributes, rows: 3 })
    : element("input", { ...attributes, type: INPUT_TYPES[of.type], autocomplete: "off" });
  if (of.type === "number_input") {
    drawn.step = of.is_decimal_allowed ? "any" : "1";
  }
  drawn.value = state.value ?? state.selected_date ?? state.selected_time ?? "";
  drawn.read = () => drawn.value || null;
  if (tells(block)) {
    drawn.addEventListener("change", () => scene.act(block, of, drawn.read()));
  }
  return drawn;
}

function stateOf(block, of, scene) {
  const kept = (scene.values[block.block_id] || {})[of.action_id];
  return kept || {
    selected_option: of.initial_option, selected_options: of.initial_options,
    selected_user: of.initial_user, selected_channel: of.initial_channel,
    selected_conversation: of.initial_conversation, selected_date: of.initial_date,
    selected_time: of.initial_time, value: of.initial_value,
  };
}

function selectedIn(state) {
  return state.selected_option?.value ?? state.selected_user ?? state.selected_channel ?? state.selected_conversation;
}

export function undrawn(type) {
  return element("div", { class: "unknown" }, `The playground cannot draw “${type}”.`);
}
