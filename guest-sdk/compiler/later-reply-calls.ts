// LaterReplyCalls: rewrites the calls of `thenReplyFrom` to the form of the SDK: the method and the values become one
// object, since AssemblyScript has no closures.
import {
  Node,
  PropertyAccessExpression,
  type CallExpression,
  type Expression,
  type TypeNode,
} from 'assemblyscript';
import type { EntityClass } from './entity-declaration.ts';
import { laterReplyClass } from './written-entity-code.ts';

/** Rewrites the calls. Their parts keep their source locations, so messages of the compiler are correct. */
export function writeLaterReplies(entity: EntityClass): void {
  for (const { call, method } of entity.laterReplies.calls) {
    const [named, ...values] = call.args;
    const target = call.expression;
    if (named === undefined || !(target instanceof PropertyAccessExpression)) continue;
    const { range } = named;
    const name = Node.createSimpleTypeName(laterReplyClass(entity, method), range);
    const written = call as {
      expression: Expression;
      typeArguments: TypeNode[] | null;
      args: Expression[];
    } & CallExpression;
    written.expression = Node.createPropertyAccessExpression(
      target.expression,
      Node.createIdentifierExpression('__svc_later', target.property.range),
      target.range,
    );
    written.typeArguments = [method.signature.returnType];
    written.args = [Node.createNewExpression(name, null, values, range)];
  }
}
