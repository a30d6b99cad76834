// Which messages of a conversation a person has not seen. Timestamps of Slack sort as text.

export class Unread {
  constructor() {
    this.seen = new Map();
    this.lines = new Map();
  }

  // Takes a conversation's messages and returns those that arrived since the last call. What is there
  // at the first call counts as seen, and so do replies to commands.
  take(name, messages, isWatched) {
    const all = messages.flatMap((message) => [message, ...message.replies]);
    const newest = all.map((message) => message.ts).sort().at(-1) || "";
    const { last = newest, read = newest } = this.seen.get(name) || {};
    const arrived = all.filter((message) => message.ts > last);
    const unread = arrived.find((message) => !message.ephemeral);
    if (unread && !isWatched && !this.lines.get(name)) {
      this.lines.set(name, unread.ts);
    }
    const others = all.filter((message) => message.ts > read && !message.ephemeral);
    this.seen.set(name, { last: newest, read: isWatched ? newest : read, count: isWatched ? 0 : others.length });
    return arrived;
  }

  count(name) {
    return this.seen.get(name)?.count || 0;
  }

  // The time of the first message below the "New" line.
  line(name) {
    return this.lines.get(name) || "";
  }

  read(name) {
    const { last = "" } = this.seen.get(name) || {};
    this.seen.set(name, { last, read: last, count: 0 });
  }

  removeLine(name) {
    this.lines.delete(name);
  }
}
