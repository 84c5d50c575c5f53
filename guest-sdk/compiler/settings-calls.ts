// SettingsCalls: mistakes in reading the configuration with `settings`, as far as the source shows them. Only a handler of an
// endpoint or a consumer can read it: an entity decides on its state and its input, and a view folds events, so that the journal
// has everything that they depend on. At run time such a call is a fault.
import {
  CallExpression,
  ClassDeclaration,
  FunctionDeclaration,
  FunctionExpression,
  IdentifierExpression,
  PropertyAccessExpression,
  type Node,
  type Program,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { isUserSource, type Declarations } from './declarations.ts';
import { displayName } from './schema-of-type.ts';
import { SWALLOW, decoratorOf, problemAt, sdkNames, type SdkNames } from './syntax.ts';
import { walk } from './syntax-walk.ts';

const READ = 'settings';

/** Returns the problems of all calls in the author's files. */
export function settingsProblems(program: Program, declarations: Declarations): Problem[] {
  return program.sources.filter(isUserSource).flatMap((source) => {
    const names = sdkNames(source);
    const file = program.filesByName.get(source.internalPath);
    const problems: Problem[] = [];
    for (const statement of source.statements)
      walk(statement, (node, parents) => {
        if (!isRead(node, names)) return;
        const problem =
          placeProblem(node, parents) ??
          (file && typeProblem(node, program, declarations, file.startFunction));
        if (problem !== undefined) problems.push(problem);
      });
    return problems;
  });
}

/** Returns whether the node is a call of the SDK's `settings`. */
function isRead(node: Node, names: SdkNames): node is CallExpression {
  if (!(node instanceof CallExpression)) return false;
  const { expression: called } = node;
  if (called instanceof IdentifierExpression) return names.ofLocal(called.text) === READ;
  return (
    called instanceof PropertyAccessExpression &&
    called.property.text === READ &&
    called.expression instanceof IdentifierExpression &&
    names.isNamespace(called.expression.text)
  );
}

function placeProblem(node: Node, parents: readonly Node[]): Problem | undefined {
  const owner = parents.find((parent) => parent instanceof ClassDeclaration);
  const kind = ['entity', 'view'].find((role) => owner && decoratorOf(owner, role) !== undefined);
  if (owner !== undefined && kind !== undefined)
    return problemAt(
      node.range,
      `${kind} '${owner.name.text}' cannot read the configuration: only endpoints and consumers can`,
      kind === 'entity'
        ? 'read it in the endpoint, and give the entity the value as a part of its input: the journal has it then'
        : 'read it in the endpoint that makes the command, and let the event say the value',
    );
  // A method is a function too, and a constructor is one that runs while the module starts.
  const runs = parents.find(
    (parent) =>
      parent instanceof FunctionExpression ||
      (parent instanceof FunctionDeclaration && parent.name.text !== 'constructor'),
  );
  if (runs !== undefined) return undefined;
  return problemAt(
    node.range,
    'the configuration cannot be read while the module starts: its values come with a request or an event',
    'call settings in the handler; it reads the values once for each request',
  );
}

function typeProblem(
  { typeArguments, range }: CallExpression,
  program: Program,
  { configuration }: Declarations,
  scope: Parameters<Program['resolver']['resolveType']>[2],
): Problem | undefined {
  if (configuration === undefined)
    return problemAt(
      range,
      'the module has no configuration',
      'declare its values: @configuration class Settings { currency: string = "EUR"; }',
    );
  const [argument] = typeArguments ?? [];
  const write = `write settings<${configuration.name}>()`;
  if (argument === undefined) return problemAt(range, 'settings does not say what it reads', write);
  const type = program.resolver.resolveType(argument, null, scope, null, SWALLOW);
  if (!type || type.getClass()?.prototype.declaration === configuration.declaration)
    return undefined;
  return problemAt(
    argument.range,
    `'${displayName(type)}' is not the configuration of the module`,
    write,
  );
}
