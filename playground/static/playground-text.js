// Text as Slack shows it: mrkdwn and emoji names become elements, never markup.

const EMOJI = {
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", warning: "⚠️", calendar: "📅", date: "📅",
  spiral_calendar_pad: "🗓️", palm_tree: "🌴", beach_with_umbrella: "🏖️", wave: "👋", tada: "🎉",
  bell: "🔔", gear: "⚙️", seedling: "🌱", hourglass: "⌛", hourglass_flowing_sand: "⏳", key: "🔑", link: "🔗",
  lock: "🔒", mag: "🔍", memo: "📝", pencil2: "✏️", arrow_right: "➡️", house: "🏠", sunny: "☀️",
  face_with_thermometer: "🤒", no_entry: "⛔", no_entry_sign: "🚫", information_source: "ℹ️",
  large_green_square: "🟩", white_large_square: "⬜", black_large_square: "⬛", busts_in_silhouette: "👥", baby: "👶",
  dove_of_peace: "🕊️", thermometer: "🌡️", briefcase: "💼", books: "📚", ring: "💍", heart: "❤️",
  airplane: "✈️", mountain: "⛰️", snowflake: "❄️", hospital: "🏥", moneybag: "💰", star: "⭐",
};
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
// In the order in which they are looked for; each gives what stands between its marks.
const MARKS = [
  ["code", /`([^`\n]+)`/],
  ["link", /<([^<>\n]+)>/],
  ["strong", /(?<![\p{L}\p{N}*])\*(?=\S)([^*\n]*[^*\s])\*(?![\p{L}\p{N}*])/u],
  ["em", /(?<![\p{L}\p{N}_])_(?=\S)([^_\n]*[^_\s])_(?![\p{L}\p{N}_])/u],
  ["s", /(?<![\p{L}\p{N}~])~(?=\S)([^~\n]*[^~\s])~(?![\p{L}\p{N}~])/u],
];

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) {
      made.setAttribute(key, "");
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(key, value);
    }
  }
  made.append(...children);
  return made;
}

// What a text object shows; `people` are the players, for mentions.
export function textOf(object, people) {
  if (!object) {
    return [];
  }
  if (object.type !== "mrkdwn") {
    const text = object.emoji === false ? object.text : withEmoji(object.text);
    return text.split("\n").flatMap((line, index) => (index ? [element("br"), line] : [line]));
  }
  return mrkdwn(object.text, people);
}

export function plainOf(object) {
  return object ? withEmoji(object.text) : "";
}

export function mrkdwn(text, people) {
  const parts = text.split(/```\n?([\s\S]*?)```/);
  return parts.flatMap((part, index) =>
    index % 2 ? [copyable(unescaped(part))] : lines(part, people),
  );
}

function copyable(text) {
  const button = element("button", { type: "button", class: "button copy" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.trim());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return element("div", { class: "copyable" }, element("pre", {}, text), button);
}

function lines(text, people) {
  const made = [];
  let quote = null;
  text.split("\n").forEach((line, index) => {
    const quoted = /^(?:&gt;|>) ?(.*)$/.exec(line);
    if (quoted) {
      if (quote) {
        quote.append(element("br"));
      } else {
        quote = element("blockquote");
        made.push(quote);
      }
      quote.append(...inline(quoted[1], people));
      return;
    }
    if (index && !quote) {
      made.push(element("br"));
    }
    quote = null;
    made.push(...inline(line, people));
  });
  return made;
}

function inline(text, people) {
  let first = null;
  for (const [name, pattern] of MARKS) {
    const match = pattern.exec(text);
    if (match && (!first || match.index < first.match.index)) {
      first = { name, match };
    }
  }
  if (!first) {
    return text ? [withEmoji(unescaped(text))] : [];
  }
  const { name, match } = first;
  return [
    ...inline(text.slice(0, match.index), people),
    marked(name, match[1], people),
    ...inline(text.slice(match.index + match[0].length), people),
  ];
}

function marked(name, inner, people) {
  if (name === "code") {
    return element("code", {}, unescaped(inner));
  }
  if (name === "link") {
    return linked(inner, people);
  }
  return element(name, {}, ...inline(inner, people));
}

function linked(inner, people) {
  const [target, label] = inner.split(/\|(.*)/s);
  if (target.startsWith("@")) {
    return mention(target.slice(1), people, label);
  }
  if (target.startsWith("#")) {
    return element("span", { class: "mention" }, `#${label || target.slice(1)}`);
  }
  if (target.startsWith("!")) {
    return element("span", { class: "mention" }, label ? unescaped(label) : `@${target.slice(1)}`);
  }
  return anchor(unescaped(target), unescaped(label || target));
}

export function mention(id, people, label) {
  const person = people.find((one) => one.id === id);
  return element("span", { class: "mention" }, `@${person ? person.name : label || id}`);
}

// An emoji of rich text: code points in hexadecimal, else a name.
export function emoji(one) {
  const points = (one.unicode || "").split("-").map((point) => Number.parseInt(point, 16));
  return points.every((point) => point <= 0x10ffff) ? String.fromCodePoint(...points) : EMOJI[one.name] || `:${one.name}:`;
}

export function anchor(address, label) {
  // Slack links the web and mail; anything else stays text.
  if (!/^(https?|mailto|webcal):/.test(address)) {
    return document.createTextNode(label);
  }
  return element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, label);
}

function unescaped(text) {
  return text.replace(/&(amp|lt|gt);/g, (entity) => ENTITIES[entity]);
}

function withEmoji(text) {
  return text.replace(/:([a-z0-9_+-]+):/g, (whole, name) => EMOJI[name] || whole);
}
