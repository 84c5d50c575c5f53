// QueryEffects: finds queries, and methods that compute a reply, that build an effect. The effect would be lost, since
// only the effect that a command returns is executed. The search follows calls of the entity's own methods.
import {
  CallExpression,
  ClassDeclaration,
  MethodDeclaration,
  PropertyAccessExpression,
  ThisExpression,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import type { EntityClass, EntityHandler } from './entity-declaration.ts';
import { methodOf, problemAt } from './syntax.ts';
import { walk } from './syntax-walk.ts';

const BUILDERS: ReadonlySet<string> = new Set([
  'persist',
  'persistAll',
  'deleteEntity',
  'setTimer',
  'cancelTimer',
  'reply',
  'refuse',
]);

export function queryEffectProblems(entity: EntityClass): Problem[] {
  const problems: Problem[] = [];
  const commands = new Map(
    entity.handlers
      .filter((handler) => handler.kind === 'command')
      .map((handler) => [handler.method, handler]),
  );
  for (const { what, method, replies } of readersOf(entity)) {
    for (const call of ownCalls(method)) {
      const builder = builderBehind(call.name, entity.declaration, commands, new Set());
      if (builder === undefined) continue;
      const through = builder === call.name ? '' : ` through 'this.${call.name}'`;
      problems.push(
        problemAt(
          call.node.range,
          `${what} builds an effect with 'this.${builder}'${through}`,
          remedy(builder, replies),
        ),
      );
    }
  }
  return problems;
}

interface Reader {
  readonly what: string;
  readonly method: MethodDeclaration;
  /** Whether the method computes the reply of a command. */
  readonly replies: boolean;
}

function readersOf({ handlers, laterReplies }: EntityClass): Reader[] {
  const queries = handlers
    .filter(({ kind }) => kind === 'query')
    .map(({ wireName, method }) => ({ what: `query '${wireName}'`, method, replies: false }));
  const known = new Set(handlers.map(({ method }) => method));
  const methods = laterReplies.methods
    .filter((method) => !known.has(method))
    .map((method) => ({ what: `'${method.name.text}'`, method, replies: true }));
  return [...queries, ...methods];
}

function remedy(builder: string, replies: boolean): string {
  if (replies)
    return 'it computes the reply of a command whose events are applied: decide in the command, and return the reply here';
  return builder === 'refuse'
    ? 'in a query, return Result<Reply> and write refuse<Reply>(…) without `this`'
    : 'a query only reads: return the reply, or make it a @command';
}

/** Returns the first method that builds an effect, of those that a call of `name` reaches. */
function builderBehind(
  name: string,
  declaration: ClassDeclaration,
  commands: ReadonlyMap<MethodDeclaration, EntityHandler>,
  seen: Set<string>,
): string | undefined {
  const method = methodOf(declaration, name);
  if (method === undefined) return BUILDERS.has(name) ? name : undefined;
  if (commands.has(method)) return name;
  if (seen.has(name)) return undefined;
  seen.add(name);
  for (const call of ownCalls(method)) {
    const builder = builderBehind(call.name, declaration, commands, seen);
    if (builder !== undefined) return builder;
  }
  return undefined;
}

interface OwnCall {
  readonly name: string;
  readonly node: CallExpression;
}

/** Returns the calls of `this.name(…)`. */
function ownCalls(method: MethodDeclaration): OwnCall[] {
  const calls: OwnCall[] = [];
  if (method.body !== null)
    walk(method.body, (node) => {
      if (!(node instanceof CallExpression)) return;
      const called = node.expression;
      if (called instanceof PropertyAccessExpression && called.expression instanceof ThisExpression)
        calls.push({ name: called.property.text, node });
    });
  return calls;
}
