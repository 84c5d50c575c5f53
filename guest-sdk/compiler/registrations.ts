// Registrations: the classes that the author's files register, conflicts between them (the id of a component, a
// route), and classes that are declared but not registered.
import {
  CallExpression,
  ExpressionStatement,
  FunctionPrototype,
  IdentifierExpression,
  PropertyAccessExpression,
  type ClassDeclaration,
  type Element,
  type File,
  type Node,
  type Program,
  type Range,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { missingRole } from './decorators.ts';
import { isUserSource, type Declarations } from './declarations.ts';
import type { EndpointClass } from './endpoint-declaration.ts';
import { displayName } from './schema-of-type.ts';
import { SDK_PATH, SWALLOW, problemAt } from './syntax.ts';
import { walk } from './syntax-walk.ts';

export interface Registrations {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Whether the module would serve nothing. */
  readonly isEmpty: boolean;
}

/** Reads the registrations. `entryName`: entry file, where the author has to add a missing registration. */
export function readRegistrations(
  program: Program,
  declarations: Declarations,
  entryName: string,
): Registrations {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const registered = new Set<ClassDeclaration>();
  for (const { call, isTopLevel, file } of registerCalls(program)) {
    const argument = call.typeArguments?.[0];
    if (!isTopLevel)
      problems.push(
        problemAt(
          call.range,
          'register must stand at the top level of a file: what a module consists of is known before it runs',
          'move the line out of the function or block that it is in',
        ),
      );
    if (argument === undefined) {
      problems.push(problemAt(call.range, 'say what to register: register<ShoppingCart>()'));
      continue;
    }
    const type = program.resolver.resolveType(argument, null, file.startFunction, null, SWALLOW);
    if (!type) continue;
    const declaration = type.getClass()?.prototype.declaration as ClassDeclaration | undefined;
    if (declaration !== undefined && roleOf(declarations, declaration) !== undefined) {
      if (registered.has(declaration)) {
        const message = `'${displayName(type)}' is registered already`;
        const again = problemAt(call.range, message, 'remove one of the lines');
        warnings.push({ ...again, severity: 'warning' });
      }
      registered.add(declaration);
    } else if (declaration === undefined || missingRole(declaration) === undefined)
      problems.push(
        problemAt(
          argument.range,
          `'${displayName(type)}' cannot be registered: it is no @entity, @endpoint, @view or @consumer class`,
        ),
      );
  }
  problems.push(...clashes(declarations, registered));
  const forgotten = registrable(declarations).filter((declaration) => !registered.has(declaration));
  const missing = forgotten.map((declaration): Problem => {
    const what = roleOf(declarations, declaration);
    const message = `${what} '${declaration.name.text}' is not registered: the module does not have it`;
    const help = `add to ${entryName}, at its top level: register<${declaration.name.text}>();`;
    return { ...problemAt(declaration.name.range, message, help), severity: 'warning' };
  });
  return { problems, warnings: [...warnings, ...missing], isEmpty: registered.size === 0 };
}

export function nothingRegistered(declarations: Declarations, entryName: string): Problem {
  const lines = registrable(declarations).map(({ name }) => `register<${name.text}>();`);
  return {
    message:
      'nothing is registered: call register<YourEntity>() and register<YourEndpoint>() at the top level of the entry file',
    ...(lines.length === 0 ? {} : { help: `add to ${entryName}:\n${lines.join('\n')}` }),
  };
}

/** Returns the classes that can be registered. */
function registrable({
  entities,
  endpoints,
  views,
  consumers,
}: Declarations): readonly ClassDeclaration[] {
  return [...entities.keys(), ...endpoints.keys(), ...views.keys(), ...consumers.keys()];
}

/** Returns the role of a class that can be registered; undefined for any other class. */
export function roleOf(
  { entities, endpoints, views, consumers }: Declarations,
  declaration: ClassDeclaration,
): 'entity' | 'endpoint' | 'view' | 'consumer' | undefined {
  if (entities.has(declaration)) return 'entity';
  if (endpoints.has(declaration)) return 'endpoint';
  if (views.has(declaration)) return 'view';
  return consumers.has(declaration) ? 'consumer' : undefined;
}

interface RegisterCall {
  readonly call: CallExpression;
  readonly isTopLevel: boolean;
  readonly file: File;
}

function registerCalls(program: Program): RegisterCall[] {
  const calls: RegisterCall[] = [];
  for (const source of program.sources) {
    const file = program.filesByName.get(source.internalPath);
    if (!isUserSource(source) || file === undefined) continue;
    for (const statement of source.statements)
      walk(statement, (node) => {
        if (!(node instanceof CallExpression) || !isRegister(elementOf(file, node.expression)))
          return;
        const isTopLevel =
          statement instanceof ExpressionStatement && statement.expression === node;
        calls.push({ call: node, isTopLevel, file });
      });
  }
  return calls;
}

/** Resolves a name, or a name in a namespace, in a file. */
function elementOf(file: File, called: Node): Element | null | undefined {
  if (called instanceof IdentifierExpression) return file.lookup(called.text);
  if (
    called instanceof PropertyAccessExpression &&
    called.expression instanceof IdentifierExpression
  )
    return file.lookup(called.expression.text)?.getMember(called.property.text);
  return undefined;
}

function isRegister(element: Element | null | undefined): boolean {
  return (
    element instanceof FunctionPrototype && element.internalName === `${SDK_PATH}registry/register`
  );
}

function clashes(declarations: Declarations, registered: ReadonlySet<ClassDeclaration>): Problem[] {
  const problems: Problem[] = [];
  const components = new Map<string, string>();
  const routes = new Map<string, { readonly name: string; readonly range: Range }>();
  for (const declaration of registered) {
    const entity = declarations.entities.get(declaration);
    if (entity !== undefined) {
      const other = components.get(entity.component);
      if (other !== undefined)
        problems.push(
          problemAt(
            declaration.name.range,
            `component '${entity.component}' is registered twice, as '${other}' and as '${entity.name}'`,
            'give each its own id: @entity("id")',
          ),
        );
      components.set(entity.component, entity.name);
    }
    const endpoint = declarations.endpoints.get(declaration);
    for (const route of endpoint?.routes ?? []) {
      const template = templateOf(endpoint!, route.path);
      const key = `${route.httpMethod} ${template.replaceAll(/\{[^{}]*\}/g, '{}')}`;
      const name = `${endpoint!.name}.${route.method.name.text}`;
      const other = routes.get(key);
      if (other === undefined) routes.set(key, { name, range: route.method.name.range });
      else
        problems.push(
          problemAt(
            route.method.name.range,
            `${route.httpMethod} ${template} is served twice, by '${other.name}' and by '${name}'`,
            `change the path or the method of one; the other stands at ${lineOf(other.range)}`,
          ),
        );
    }
  }
  return [...problems, ...followerClashes(declarations, registered, components)];
}

/**
 * Returns the clashes of views and consumers, which share their ids with the entities. `components`: ids of the
 * registered entities, with the names of their classes.
 */
function followerClashes(
  { views, consumers }: Declarations,
  registered: ReadonlySet<ClassDeclaration>,
  components: ReadonlyMap<string, string>,
): Problem[] {
  const followers = [
    ...[...views.values()].map((view) => ({ ...view, kind: 'view', sources: view.folds })),
    ...[...consumers.values()].map((consumer) => ({ ...consumer, kind: 'consumer' })),
  ].filter(({ declaration }) => registered.has(declaration));
  const problems: Problem[] = [];
  const names = new Map([...components].map(([id, name]) => [id, { kind: 'entity', name }]));
  for (const { kind, id, name, declaration, sources } of followers) {
    const other = names.get(id);
    const { range } = declaration.name;
    if (other?.kind === kind)
      problems.push(
        problemAt(
          range,
          `${kind} '${id}' is registered twice, as '${other.name}' and as '${name}'`,
          `give each its own id: @${kind}("id"${kind === 'view' ? '' : ', …'})`,
        ),
      );
    else if (other !== undefined)
      problems.push(
        problemAt(
          range,
          `${kind} '${id}' has the id of the ${other.kind} '${other.name}'`,
          'give it another: entities, views and consumers share their ids',
        ),
      );
    else names.set(id, { kind, name });
    for (const { component, decorator } of sources)
      if (!components.has(component))
        problems.push(
          problemAt(
            decorator.range,
            `${kind} '${id}' gets the events of '${component}', which is not registered`,
            'register the entity too, at the top level of the entry file',
          ),
        );
  }
  return problems;
}

/** Returns the path template as the runtime serves it; an empty path is `/`. */
function templateOf(endpoint: EndpointClass, path: string): string {
  const template = endpoint.prefix + path;
  return template === '' ? '/' : template;
}

/** Returns the file and line of a range. */
function lineOf({ source, start }: Range): string {
  return `${source.normalizedPath}:${source.lineAt(start)}`;
}
