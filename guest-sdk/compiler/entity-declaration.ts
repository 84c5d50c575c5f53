// EntityDeclaration: reads an @entity class from the syntax tree.
import {
  DeclarationStatement,
  ImportStatement,
  MethodDeclaration,
  type ClassDeclaration,
  type DecoratorNode,
  type IdentifierExpression,
  type ParameterNode,
  type Source,
  type TypeNode,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { readLaterReplies, type LaterReplies } from './later-replies.ts';
import {
  constructorProblem,
  decoratorName,
  decoratorOf,
  defaultProblems,
  handlerProblems,
  methodOf,
  problemAt,
  stringArgument,
  textOf,
  typeArgument,
  type SdkNames,
} from './syntax.ts';

export type HandlerArgument = 'state' | 'input' | 'context';

export interface EntityHandler {
  readonly kind: 'command' | 'query';
  /** Name for storage and routing. */
  readonly wireName: string;
  readonly method: MethodDeclaration;
  readonly arguments: readonly HandlerArgument[];
  readonly input: ParameterNode | undefined;
  /** `R` of `Effect<R>` and of `Result<R>`, else the type itself. */
  readonly reply: TypeNode;
}

export interface EntityClass {
  readonly declaration: ClassDeclaration;
  readonly name: string;
  readonly component: string;
  /** Source text of `S` and `E` in `EventSourcedEntity<S, E>`. */
  readonly state: string;
  readonly event: string;
  readonly stateNode: TypeNode | undefined;
  readonly eventNode: TypeNode | undefined;
  readonly handlers: readonly EntityHandler[];
  readonly laterReplies: LaterReplies;
}

export const WIRE_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,99}$/;
/** Members of every client class that the compiler writes. */
const CLIENT_MEMBERS = new Set(['id', 'component', 'constructor', 'withIdempotencyKey', 'events']);

export function readEntity(
  declaration: ClassDeclaration,
  role: DecoratorNode,
  names: SdkNames,
  problems: Problem[],
): EntityClass {
  const name = declaration.name.text;
  const badConstructor = constructorProblem(declaration);
  if (badConstructor !== undefined) problems.push(badConstructor);
  const component = stringArgument(role) ?? '';
  if (!WIRE_NAME.test(component))
    problems.push(
      problemAt(
        role.range,
        '@entity needs the id of the component',
        "@entity(\"shopping-cart\"), of letters, digits, '.', '_', '-', beginning with a letter",
      ),
    );
  const base = declaration.extendsType;
  const stateNode = base === null ? undefined : typeArgument(base, 0);
  const eventNode = base === null ? undefined : typeArgument(base, 1);
  if (base === null || names.of(base) !== 'EventSourcedEntity' || !stateNode || !eventNode)
    problems.push(
      problemAt(
        declaration.name.range,
        `entity '${name}' must extend EventSourcedEntity<State, Event> of @svc/guest-sdk`,
        'import { EventSourcedEntity } from "@svc/guest-sdk"; the state is a @data class, the event an abstract @data class with @variant cases',
      ),
    );
  else problems.push(...missingParts(declaration, textOf(stateNode), textOf(eventNode)));
  if ((declaration.typeParameters?.length ?? 0) > 0)
    problems.push(
      problemAt(declaration.name.range, `entity '${name}' cannot have type parameters`),
    );
  problems.push(...writtenNameClashes(declaration, ['Client', 'Call']));
  const handlers = readHandlers(declaration, names, problems);
  // An invalid decorator has its own message.
  if (declaration.members.every((member) => (member.decorators ?? []).length === 0)) {
    const state = stateNode ? textOf(stateNode) : 'State';
    problems.push(
      problemAt(
        declaration.name.range,
        `entity '${name}' has neither a @command nor a @query: nothing can reach it`,
        `add one: @query("get") get(state: ${state}): ${state} { return state; }`,
      ),
    );
  }
  return {
    declaration,
    name,
    component,
    state: stateNode ? textOf(stateNode) : '',
    event: eventNode ? textOf(eventNode) : '',
    stateNode,
    eventNode,
    handlers,
    laterReplies: readLaterReplies(declaration, handlers, names, problems),
  };
}

function missingParts(declaration: ClassDeclaration, state: string, event: string): Problem[] {
  const parts = [
    {
      name: 'empty',
      what: 'the state of an entity without events',
      code: `empty(entityId: string): ${state} { return new ${state}(); }`,
    },
    {
      name: 'apply',
      what: 'the state after an event',
      code: `apply(state: ${state}, event: ${event}): ${state} { return state; }`,
    },
  ];
  return parts
    .filter(({ name }) => methodOf(declaration, name) === undefined)
    .map(({ name, what, code }) =>
      problemAt(
        declaration.name.range,
        `entity '${declaration.name.text}' has no '${name}', ${what}`,
        `add ${code}`,
      ),
    );
}

/** Classes that the compiler writes for a class of the author's → what they are. */
const WRITTEN_CLASSES = { Client: 'client', Call: 'class of deferred calls' } as const;

/** Checks that the names of the classes that the compiler writes for a class are not used in its file. */
export function writtenNameClashes(
  { name: { text: name }, range }: ClassDeclaration,
  written: readonly (keyof typeof WRITTEN_CLASSES)[],
): Problem[] {
  return namesOf(range.source).flatMap((other) => {
    const suffix = written.find((one) => other.text === name + one);
    if (suffix === undefined) return [];
    const message = `'${other.text}' is the ${WRITTEN_CLASSES[suffix]} that the compiler writes for '${name}': give this another name`;
    return [problemAt(other.range, message)];
  });
}

/** Reads the commands and queries of an entity, in the order of the source. */
function readHandlers(
  declaration: ClassDeclaration,
  names: SdkNames,
  problems: Problem[],
): EntityHandler[] {
  const handlers: EntityHandler[] = [];
  const taken = new Map<string, string>();
  for (const member of declaration.members) {
    if (!(member instanceof MethodDeclaration)) continue;
    const handler = readHandler(member, names, problems);
    if (handler === undefined) continue;
    const other = taken.get(handler.wireName);
    if (other !== undefined)
      problems.push(
        problemAt(
          member.name.range,
          `'${handler.wireName}' is declared twice, by '${other}' and '${member.name.text}'`,
          'each command and query needs its own name',
        ),
      );
    taken.set(handler.wireName, member.name.text);
    if (CLIENT_MEMBERS.has(member.name.text))
      problems.push(
        problemAt(
          member.name.range,
          `every client has a member '${member.name.text}'`,
          'rename this method, its wire name can stay',
        ),
      );
    handlers.push(handler);
  }
  return handlers;
}

/** Returns the names that the top level of a file declares and imports. */
function namesOf(source: Source): IdentifierExpression[] {
  return source.statements.flatMap((statement) => {
    if (statement instanceof DeclarationStatement) return [statement.name];
    if (!(statement instanceof ImportStatement)) return [];
    return (statement.declarations ?? []).map((declaration) => declaration.name);
  });
}

function readHandler(
  method: MethodDeclaration,
  names: SdkNames,
  problems: Problem[],
): EntityHandler | undefined {
  const report: Report = (message, help, node = method.name) => {
    problems.push(problemAt(node.range, message, help));
  };
  for (const decorator of method.decorators ?? [])
    if (!['command', 'query', 'inline'].includes(decoratorName(decorator)))
      report(
        `a method of an entity is a @command("name") or a @query("name"), not @${decoratorName(decorator)}`,
        undefined,
        decorator,
      );
  const asQuery = decoratorOf(method, 'query');
  const role = decoratorOf(method, 'command') ?? asQuery;
  if (role === undefined) return undefined;
  if (asQuery !== undefined && role !== asQuery)
    report('a method is a @command or a @query: remove one of them', undefined, asQuery);
  const kind = decoratorName(role) === 'command' ? 'command' : 'query';
  const wireName = stringArgument(role) ?? '';
  problems.push(...handlerProblems(method));
  for (const parameter of method.signature.parameters)
    problems.push(...defaultProblems(parameter, method));
  if (!WIRE_NAME.test(wireName))
    report(
      `@${kind} needs the name it is called by`,
      `@${kind}("add-item"), of letters, digits, '.', '_', '-', beginning with a letter`,
      role,
    );
  const handler = { kind, wireName, method } as const;
  const { args, input } = readArguments(handler, names, report);
  const reply = readReply(handler, names, report);
  return { ...handler, arguments: args, input, reply };
}

type Report = (
  message: string,
  help?: string,
  node?: { readonly range: DecoratorNode['range'] },
) => void;
type NamedHandler = Pick<EntityHandler, 'kind' | 'wireName' | 'method'>;

/** Reads the parameters: the state comes first; one of the others is the input, and any may be the context. */
function readArguments(
  { kind, wireName, method }: NamedHandler,
  names: SdkNames,
  report: Report,
): { args: HandlerArgument[]; input: ParameterNode | undefined } {
  const args: HandlerArgument[] = [];
  let input: ParameterNode | undefined;
  for (const [index, parameter] of method.signature.parameters.entries()) {
    if (index === 0) args.push('state');
    else if (names.of(parameter.type) === 'Context') args.push('context');
    else if (input === undefined) {
      input = parameter;
      args.push('input');
    } else
      report(
        `${kind} '${wireName}' has one input`,
        `put '${textOf(parameter.name)}' into the class of '${textOf(input.name)}'`,
        parameter,
      );
  }
  if (args.length === 0)
    report(
      `${kind} '${wireName}' needs the state as its first parameter`,
      `${method.name.text}(state: State): …`,
    );
  return { args, input };
}

/** Reads the type of the reply: `Effect<Reply>` for a command, the reply or `Result<Reply>` for a query. */
function readReply(
  { kind, wireName, method }: NamedHandler,
  names: SdkNames,
  report: Report,
): TypeNode {
  const returned = method.signature.returnType;
  const sdkType = names.of(returned);
  let reply: TypeNode | undefined = returned;
  if (kind === 'command') {
    reply = sdkType === 'Effect' ? typeArgument(returned) : undefined;
    if (reply === undefined)
      report(
        `command '${wireName}' must return Effect<Reply>, written out`,
        'Effect<Done> when there is nothing to say; a method that only reads is a @query',
      );
  } else if (sdkType === 'Effect') {
    report(
      `query '${wireName}' cannot have an effect`,
      'return the reply or Result<Reply>, or make it a @command',
    );
  } else if (sdkType === 'Result') reply = typeArgument(returned);
  return reply ?? returned;
}
