// Writes the calls of `thenReplyFrom` as the SDK has them: the method and the values become one object,
// since a function of AssemblyScript captures nothing.
import {
  Node,
  PropertyAccessExpression,
  type CallExpression,
  type Expression,
  type TypeNode,
} from 'assemblyscript';
import type { EntityClass } from './entity-declaration.ts';
import { laterReplyClass } from './written-code.ts';

/** The parts keep the user's places, and with them the messages of the compiler. */
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
