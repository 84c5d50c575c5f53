// LaterReplies: the calls of `thenReplyFrom` in an entity, and the methods that they name, which compute a reply from
// the state after the events.
import {
  CallExpression,
  MethodDeclaration,
  PropertyAccessExpression,
  ThisExpression,
  type ClassDeclaration,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import {
  handlerProblems,
  isTypeOmitted,
  methodOf,
  problemAt,
  textOf,
  type SdkNames,
} from './syntax.ts';
import { walk } from './syntax-walk.ts';

export interface LaterReplies {
  readonly calls: readonly LaterReplyCall[];
  /** Each method once; an effect stores an index into this list. */
  readonly methods: readonly MethodDeclaration[];
}

export interface LaterReplyCall {
  readonly call: CallExpression;
  readonly method: MethodDeclaration;
}

interface HandlerMethod {
  readonly kind: 'command' | 'query';
  readonly method: MethodDeclaration;
}

const BUILDER = 'thenReplyFrom';

export function readLaterReplies(
  declaration: ClassDeclaration,
  handlers: readonly HandlerMethod[],
  names: SdkNames,
  problems: Problem[],
): LaterReplies {
  const calls: LaterReplyCall[] = [];
  const methods = new Set<MethodDeclaration>();
  for (const call of buildersIn(declaration)) {
    const method = namedMethod(call, declaration, problems);
    if (method === undefined) continue;
    if (!methods.has(method)) problems.push(...methodProblems(method, handlers, names));
    methods.add(method);
    calls.push({ call, method });
    const countProblem = valueCountProblem(call, method);
    const isCommand = handlers.some((one) => one.method === method && one.kind === 'command');
    if (countProblem !== undefined && !isCommand) problems.push(countProblem);
  }
  return { calls, methods: [...methods] };
}

function buildersIn(declaration: ClassDeclaration): CallExpression[] {
  const calls: CallExpression[] = [];
  for (const member of declaration.members)
    if (member instanceof MethodDeclaration && member.body !== null)
      walk(member.body, (node) => {
        if (!(node instanceof CallExpression)) return;
        const { expression } = node;
        if (expression instanceof PropertyAccessExpression && expression.property.text === BUILDER)
          calls.push(node);
      });
  return calls;
}

function namedMethod(
  call: CallExpression,
  declaration: ClassDeclaration,
  problems: Problem[],
): MethodDeclaration | undefined {
  const [named] = call.args;
  if (
    !(named instanceof PropertyAccessExpression) ||
    !(named.expression instanceof ThisExpression)
  ) {
    problems.push(
      problemAt(
        (named ?? call).range,
        `${BUILDER} takes a method of the entity`,
        `write ${BUILDER}(this.summary), and in the class: summary(state: State): Summary { … }`,
      ),
    );
    return undefined;
  }
  const name = named.property.text;
  const method = methodOf(declaration, name);
  if (method === undefined)
    problems.push(
      problemAt(
        named.range,
        `entity '${declaration.name.text}' has no method '${name}'`,
        `add ${name}(state: State): Reply { … }: it computes the reply from the state after the events`,
      ),
    );
  return method;
}

function methodProblems(
  method: MethodDeclaration,
  handlers: readonly HandlerMethod[],
  names: SdkNames,
): Problem[] {
  const handler = handlers.find((one) => one.method === method);
  const name = method.name.text;
  const at = method.name.range;
  // Problems of a handler are reported elsewhere.
  const problems = handler === undefined ? handlerProblems(method) : [];
  const { parameters, returnType } = method.signature;
  if (handler?.kind === 'command')
    problems.push(
      problemAt(
        at,
        `'${name}' is a command: ${BUILDER} takes a method that computes a reply`,
        'move what they share into a method that returns the reply',
      ),
    );
  else if (parameters.length === 0)
    problems.push(
      problemAt(
        at,
        `'${name}' computes a reply and needs the state as its first parameter`,
        `${name}(state: State): Reply`,
      ),
    );
  const sdkType = names.of(returnType);
  if (isTypeOmitted(returnType) || textOf(returnType) === 'void')
    problems.push(
      problemAt(at, `'${name}' computes a reply and has to return one`, `${name}(…): Reply`),
    );
  else if (handler?.kind !== 'command' && (sdkType === 'Effect' || sdkType === 'Result'))
    problems.push(
      problemAt(
        at,
        `'${name}' computes a reply once the events are applied, and so cannot return ${sdkType}`,
        'return the reply itself; what may be refused is decided in the command, before it persists',
      ),
    );
  return problems;
}

function valueCountProblem(call: CallExpression, method: MethodDeclaration): Problem | undefined {
  const name = method.name.text;
  const [, ...values] = method.signature.parameters;
  const given = call.args.length - 1;
  if (given === values.length) return undefined;
  const wanted = [`this.${name}`, ...values.map((value) => value.name.text)].join(', ');
  return problemAt(
    call.range,
    `'${name}' is given ${given} ${given === 1 ? 'value' : 'values'} after the state, and takes ${values.length}`,
    `${BUILDER}(${wanted})`,
  );
}
