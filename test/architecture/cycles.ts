// Cycles of a graph, whose nodes are texts.

/** A line for a cycle of each part of the graph that has one; none if the graph has no cycle. `next`: the nodes to which one leads. */
export function cyclesOf(
  nodes: readonly string[],
  next: (node: string) => readonly string[],
): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) found.push([...path.slice(path.indexOf(node)), node].join(' → '));
    if (done.has(node) || path.includes(node)) return;
    for (const to of next(node)) visit(to, [...path, node]);
    done.add(node);
  };
  for (const node of nodes) visit(node, []);
  return found;
}
