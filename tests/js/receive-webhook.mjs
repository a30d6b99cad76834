// Runs the receiver of docs/webhooks.md: takes its source, a secret and requests as JSON, and prints
// the status of each request.

import { readFileSync, writeFileSync, rmSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { source, secret, requests } = JSON.parse(readFileSync(0, "utf8"));
const seen = new Set();
globalThis.alreadySeen = (id) => seen.has(id) || !seen.add(id);
globalThis.remembered = [];
globalThis.remember = (data) => globalThis.remembered.push(data.sequence);

// Beside node_modules, where its import is found.
const file = `receiver-${process.pid}.mjs`;
writeFileSync(file, source);
try {
  const { receive } = await import(pathToFileURL(file));
  const statuses = requests.map(({ headers, body }) => receive(secret, headers, body));
  console.log(JSON.stringify({ statuses, remembered: globalThis.remembered }));
} finally {
  rmSync(file);
}
