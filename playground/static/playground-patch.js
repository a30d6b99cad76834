// Changes of the screen that keep what a person is doing: focus, unsent text, open menus.

// Makes the children those of `wanted`, [key, draw] each; a child whose key was there stays in its
// place.
export function patch(root, wanted) {
  const before = root.patched || new Map();
  const after = new Map();
  const nodes = wanted.flatMap(([name, draw], index) => {
    const key = after.has(name) ? `${name}#${index}` : name;
    const made = before.get(key) || [draw()].flat();
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

// A block without the values that it begins with: those are on the screen already.
export function untouched(block) {
  if (block.type !== "input") {
    return block;
  }
  const kept = Object.entries(block.element).filter(([name]) => !name.startsWith("initial_"));
  return { ...block, element: Object.fromEntries(kept) };
}
