// SyntaxWalk: visits the nodes of a syntax tree. AssemblyScript has no visitor to build on: the children of a node
// are those of its properties that are nodes.
import { Node, ParenthesizedExpression } from 'assemblyscript';

/** `parents`: from the outermost to the nearest, without parentheses. */
export type Visit = (node: Node, parents: readonly Node[]) => void;

/** Visits the node itself first, then its children in the order of the text. */
export function walk(node: Node, visit: Visit): void {
  step(node, visit, []);
}

function step(node: Node, visit: Visit, parents: readonly Node[]): void {
  if (node instanceof ParenthesizedExpression) return step(node.expression, visit, parents);
  visit(node, parents);
  const below = [...parents, node];
  for (const child of partsOf(node)) step(child, visit, below);
}

function partsOf(node: Node): Node[] {
  const parts: Node[] = [];
  for (const value of Object.values(node) as unknown[])
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value])
      if (one instanceof Node) parts.push(one);
  return parts;
}
