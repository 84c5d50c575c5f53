// KnownStatements are the statements that the model of the database carries out. Each is known by a part of its text that no other one has.
//
// Invariant: a statement that is not known is an error of the test, and of no other kind.
import { CLUSTER_STATEMENTS } from './cluster-statements.ts';
import { ENTITY_STATEMENTS } from './entity-statements.ts';
import type { CarryOut } from './statement-run.ts';

const FOUND = new Map<string, CarryOut>();

/** Returns what carries out a statement. Throws for one that is not known. */
export function carryOutOf(text: string): CarryOut {
  return FOUND.getOrInsertComputed(text, () => {
    const found = [...CLUSTER_STATEMENTS, ...ENTITY_STATEMENTS].filter(([part]) =>
      text.includes(part),
    );
    if (found.length === 1) return found[0]![1];
    throw new Error(
      `The model of the database knows ${found.length} meanings of this statement. Teach it, and compare it with the real one: ${text}`,
    );
  });
}
