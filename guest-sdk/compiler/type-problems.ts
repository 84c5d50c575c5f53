// TypeProblems: problems of the types that entities, endpoints, views and consumers declare, and problems that only
// types reveal: whether `apply` handles every case of the event.
import {
  type Class,
  type MethodDeclaration,
  type Program,
  type Range,
  type Type,
  type TypeNode,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { checkConsumer } from './consumer-type-problems.ts';
import type { Declarations } from './declarations.ts';
import { replyBody } from './descriptor.ts';
import type { EndpointClass } from './endpoint-declaration.ts';
import type { ValueArgument } from './route-arguments.ts';
import type { EntityClass } from './entity-declaration.ts';
import { eventCaseProblem } from './event-cases.ts';
import { classOf, resolve } from './resolved-types.ts';
import { SCALARS, isScalarType, routeValueProblems } from './route-values.ts';
import { SchemaBuilder, displayName } from './schema-of-type.ts';
import { SWALLOW, isTypeOmitted, methodOf, problemAt, textOf } from './syntax.ts';
import { checkView } from './view-type-problems.ts';

/**
 * Returns problems of types at the author's line, before the compiler would report them at a line of the SDK. A type
 * that does not resolve becomes a message of the compiler, at the author's line.
 */
export function typeProblems(program: Program, declarations: Declarations): Problem[] {
  const problems: Problem[] = [];
  const report = (range: Range, message: string, help?: string): void => {
    problems.push(problemAt(range, message, help));
  };
  const schemas = new SchemaBuilder(program, declarations, report);
  for (const data of declarations.data.values()) {
    if ((data.declaration.typeParameters?.length ?? 0) > 0) continue;
    const reference = classOf(program, data.declaration);
    if (reference !== undefined) schemas.schema(reference.type, data.declaration.name.range);
  }
  for (const entity of declarations.entities.values()) {
    const reference = classOf(program, entity.declaration);
    if (reference !== undefined)
      checkEntity({ program, reference, schemas, problems, report }, entity);
  }
  for (const endpoint of declarations.endpoints.values()) {
    const reference = classOf(program, endpoint.declaration);
    if (reference !== undefined)
      checkEndpoint({ program, reference, schemas, problems, report }, endpoint);
  }
  for (const view of declarations.views.values()) {
    const reference = classOf(program, view.declaration);
    if (reference !== undefined)
      checkView({ program, reference, schemas, declarations, report }, view);
  }
  for (const consumer of declarations.consumers.values()) {
    const reference = classOf(program, consumer.declaration);
    if (reference !== undefined)
      checkConsumer({ program, reference, declarations, report }, consumer);
  }
  schemas.reportEndless();
  return problems;
}

/** Context of the check of one class. */
interface ClassCheck {
  readonly program: Program;
  /** The class in which the types are resolved. */
  readonly reference: Class;
  readonly schemas: SchemaBuilder;
  readonly problems: Problem[];
  /** Adds a problem to `problems`. */
  readonly report: (range: Range, message: string, help?: string) => void;
}

function checkEntity(check: ClassCheck, entity: EntityClass): void {
  const { program, reference, schemas, problems, report } = check;
  const state = entity.stateNode && resolve(program, entity.stateNode, reference);
  const event = entity.eventNode && resolve(program, entity.eventNode, reference);
  if (state !== undefined && dataOf(schemas, state) === undefined)
    report(
      entity.stateNode!.range,
      `the state '${displayName(state)}' must be a @data class: it is stored`,
    );
  const sum = event && dataOf(schemas, event);
  if (event !== undefined && sum?.kind !== 'sum')
    report(
      entity.eventNode!.range,
      `the event '${displayName(event)}' must be an abstract @data class with @variant cases: events are stored with their case`,
    );
  if (state !== undefined && event !== undefined)
    problems.push(...signatureProblems(program, reference, entity, state, event));
  const unhandled = sum?.kind === 'sum' && eventCaseProblem(program, reference, sum);
  if (unhandled) problems.push(unhandled);
  for (const { kind, method, input, reply } of entity.handlers) {
    const message = (shown: string) => `the first parameter of a ${kind} is the state, '${shown}'`;
    checkState(check, method, state, message);
    if (input !== undefined) checkJson(check, input.type);
    if (resolve(program, reply, reference) !== state) checkJson(check, reply);
  }
  checkLaterReplies(check, entity, state);
}

/** Checks the methods that compute a reply from the state after the events. */
function checkLaterReplies(check: ClassCheck, entity: EntityClass, state: Type | undefined): void {
  const handlers = new Set(entity.handlers.map((handler) => handler.method));
  for (const method of entity.laterReplies.methods) {
    if (handlers.has(method)) continue;
    const message = (shown: string) =>
      `the first parameter of '${method.name.text}' is the state after the events, '${shown}'`;
    checkState(check, method, state, message);
    const { returnType } = method.signature;
    if (!isTypeOmitted(returnType) && textOf(returnType) !== 'void') checkJson(check, returnType);
  }
}

/** Checks that the first parameter is the state. `message`: creates the message from the name of the state. */
function checkState(
  { program, reference, report }: ClassCheck,
  method: MethodDeclaration,
  state: Type | undefined,
  message: (shown: string) => string,
): void {
  const [first] = method.signature.parameters;
  const given = first && resolve(program, first.type, reference);
  if (given !== undefined && state !== undefined && given !== state)
    report(first!.range, message(displayName(state)));
}

/** Checks that the type has a JSON form, unless it is one of the SDK's own. */
function checkJson({ program, reference, schemas }: ClassCheck, node: TypeNode): void {
  const type = resolve(program, node, reference);
  if (type !== undefined && !isSdkValue(type)) schemas.schema(type, node.range);
}

function checkEndpoint(
  { program, reference, schemas, report }: ClassCheck,
  endpoint: EndpointClass,
): void {
  for (const route of endpoint.routes) {
    for (const argument of route.arguments) {
      if (argument.kind === 'request' || argument.kind === 'context') continue;
      const type = resolve(program, argument.type, reference);
      if (type === undefined) continue;
      if (argument.kind !== 'parameter') {
        if (!isBytes(type)) schemas.schema(type, argument.type.range);
      } else if (!isScalarType(type))
        report(
          argument.type.range,
          `path parameter '${argument.name}' must be ${SCALARS}, not '${displayName(type)}'`,
        );
    }
    const typeOf = ({ type }: ValueArgument) => resolve(program, type, reference, SWALLOW);
    routeValueProblems(route, typeOf, report);
    const node = route.method.signature.returnType;
    const returned = resolve(program, node, reference);
    if (returned !== undefined) replyBody(returned, node.range, schemas, report);
  }
}

/** Checks the signatures of `empty` and `apply`; a missing one is reported elsewhere. */
function signatureProblems(
  program: Program,
  reference: Class,
  entity: EntityClass,
  state: Type,
  event: Type,
): Problem[] {
  const wanted = [
    { name: 'empty', given: [program.stringInstance.type], text: '(entityId: string)' },
    {
      name: 'apply',
      given: [state, event],
      text: `(state: ${entity.state}, event: ${entity.event})`,
    },
  ];
  return wanted.flatMap(({ name, given, text }) => {
    const method = methodOf(entity.declaration, name);
    if (method === undefined) return [];
    const { parameters, returnType } = method.signature;
    const nodes = [...parameters.map((parameter) => parameter.type), returnType];
    const types = nodes.map((node) =>
      isTypeOmitted(node) ? undefined : resolve(program, node, reference),
    );
    const isRight =
      nodes.length === given.length + 1 &&
      [...given, state].every((type, index) => types[index] === type);
    const isUnresolved = nodes.some((node, at) => !isTypeOmitted(node) && types[at] === undefined);
    if (isRight || isUnresolved) return [];
    const message = `'${name}' of entity '${entity.name}' has other parameters or another type than the runtime calls it with`;
    return [problemAt(method.name.range, message, `write ${name}${text}: ${entity.state}`)];
  });
}

function isSdkValue(type: Type): boolean {
  return type.getClass()?.prototype.internalName.startsWith('~lib/@svc/') ?? false;
}

function isBytes(type: Type): boolean {
  return type.getClass()?.prototype.internalName === '~lib/typedarray/Uint8Array';
}

function dataOf(schemas: SchemaBuilder, type: Type): ReturnType<SchemaBuilder['dataOf']> {
  const reference = type.getClass();
  return reference === null ? undefined : schemas.dataOf(reference);
}
