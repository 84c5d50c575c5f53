// SyntaxWalk: visits the nodes of a syntax tree. AssemblyScript has no visitor, so the children of a node are
// found among its properties: each property that is a node, or a list of nodes.
import { Node, ParenthesizedExpression } from 'assemblyscript';

/** `parents`: from the outermost to the nearest; parenthesized expressions are omitted. */
export type Visit = (node: Node, parents: readonly Node[]) => void;

/** Visits the node itself first, then its children in the order of the node's properties. */
export function walk(node: Node, visit: Visit): void {
  walkFrom(node, visit, []);
}

function walkFrom(node: Node, visit: Visit, parents: readonly Node[]): void {
  if (node instanceof ParenthesizedExpression) return walkFrom(node.expression, visit, parents);
  visit(node, parents);
  const childParents = [...parents, node];
  for (const child of childrenOf(node)) walkFrom(child, visit, childParents);
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (const value of Object.values(node) as unknown[])
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value])
      if (item instanceof Node) children.push(item);
  return children;
}
