// Messages and their threads, as Slack shows a conversation.

import { drawBlocks } from "./playground-blocks.js";
import { element, mrkdwn } from "./playground-text.js";

// Slack shows the sender once for messages that follow each other within five minutes.
const GROUP_SECONDS = 300;
const ICON = document.querySelector("link[rel=icon]").href;

// A conversation as [key, draw] for `patch`. `line` is the time of the first new message; `scene`
// makes a message's scene; `open` shows a thread.
export function conversation(messages, { line, people, scene, open }) {
  let day = "";
  let isBelow = false;
  let above = null;
  return messages.flatMap((message) => {
    const drawn = [];
    const its = dayOf(message);
    if (its !== day) {
      day = its;
      above = null;
      drawn.push([`day ${its}`, () => divider(its)]);
    }
    if (line && !isBelow && message.ts >= line) {
      isBelow = true;
      above = null;
      drawn.push([`new ${line}`, () => element("p", { class: "rule new" }, "New")]);
    }
    const news = line ? message.replies.filter((reply) => reply.ts >= line).length : 0;
    const isGrouped = continues(above, message);
    above = message;
    drawn.push([JSON.stringify([message, news, isGrouped]), () => {
      const made = drawMessage(message, people, scene(message), { isGrouped });
      if (message.replies.length) {
        made.lastChild.append(repliesBar(message, news, open));
      }
      return made;
    }]);
    return drawn;
  });
}

// A thread: its first message, and the replies.
export function thread(root, { people, scene }) {
  const count = root.replies.length;
  return [
    [JSON.stringify({ ...root, replies: [] }), () => drawMessage(root, people, scene(root))],
    [`count ${count}`, () => divider(replies(count))],
    ...root.replies.map((reply, at) => {
      const isGrouped = continues(root.replies[at - 1], reply);
      return [JSON.stringify([reply, isGrouped]), () => drawMessage(reply, people, scene(reply), { isInThread: true, isGrouped })];
    }),
  ];
}

// Whether the message stands below its sender's last one without another head.
function continues(above, message) {
  const isAlone = [above, message].some((one) => !one || one.ephemeral || one.reply_broadcast) || above.author !== message.author;
  return !isAlone && Number(message.ts) - Number(above.ts) < GROUP_SECONDS;
}

function drawMessage(message, people, scene, { isInThread = false, isGrouped = false } = {}) {
  const time = element("time", { datetime: timeOf(message).toISOString(), title: timeOf(message).toLocaleString() }, clock(message));
  // Slack ids are those of people; what has none is of Hiatus.
  const writer = people.find((person) => person.id === message.author);
  const name = writer ? writer.name : "Hiatus";
  const head = element("p", { class: "head" }, element("b", {}, name), ...(writer ? [] : [element("span", { class: "badge" }, "APP")]), time);
  const content = element("div", { class: "content" }, ...(isGrouped ? [] : [head]));
  if (message.deleted) {
    content.append(element("p", { class: "note" }, message.text));
  } else {
    content.append(...(message.blocks.length ? drawBlocks(message.blocks, scene) : [element("div", { class: "block" }, ...mrkdwn(message.text, people))]));
  }
  content.append(...message.files.map(attachment));
  const avatar = writer ? element("span", { class: "avatar initials", "aria-hidden": "true" }, initials(name)) : element("img", { class: "avatar", src: ICON, alt: "" });
  const drawn = element("article", { class: "message", "aria-label": `${name}, ${clock(message)}` },
    isGrouped ? element("span", { class: "gutter" }, time) : avatar, content);
  drawn.classList.toggle("grouped", isGrouped);
  if (message.edited) {
    content.append(element("span", { class: "note" }, "(edited)"));
  }
  if (message.ephemeral) {
    drawn.classList.add("ephemeral");
    content.prepend(element("p", { class: "note" }, "Only visible to you"));
  }
  if (message.reply_broadcast) {
    const where = isInThread ? "Also sent to the conversation" : "replied to a thread: ";
    const about = isInThread ? [] : mrkdwn(firstLine(message.replied_to), people);
    content.insertBefore(element("p", { class: "note about" }, where, ...about), head.nextSibling);
  }
  return drawn;
}

function attachment(file) {
  const address = URL.createObjectURL(new Blob([file.content], { type: "text/csv" }));
  return element("p", { class: "block" }, element("a", { href: address, download: file.name }, `📄 ${file.name}`));
}

function repliesBar(message, news, open) {
  const last = message.replies.at(-1);
  const bar = element("button", { type: "button", class: "replies", "data-thread": message.ts },
    element("img", { src: ICON, alt: "" }), element("b", {}, replies(message.replies.length)));
  if (news) {
    bar.append(element("span", { class: "count" }, `${news} new`));
  }
  bar.append(element("span", { class: "note" }, `Last reply at ${clock(last)}`));
  bar.addEventListener("click", () => open(message));
  return bar;
}

function initials(name) {
  return name.split(" ").map((word) => word[0]).slice(0, 2).join("");
}

function divider(words) {
  return element("p", { class: "rule" }, words);
}

function replies(count) {
  return count === 1 ? "1 reply" : `${count} replies`;
}

function firstLine(text) {
  return (text || "a message").split("\n")[0].slice(0, 80);
}

function timeOf(message) {
  return new Date(Number(message.ts.split(".")[0]) * 1000);
}

function clock(message) {
  return timeOf(message).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

function dayOf(message) {
  const day = timeOf(message).toDateString();
  return day === new Date().toDateString() ? "Today" : timeOf(message).toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
}
