// UnregisteredViews: finds queries of views that are not registered. The runtime does not know such a view, so that at run
// time each of its queries is a fault.
//
// Invariant: only code that is compiled is reported. A file may have endpoints that other modules register, with their views.
import {
  ClassDeclaration,
  ClassPrototype,
  NewExpression,
  type Element,
  type File,
  type Program,
  type Range,
  type TypeName,
} from 'assemblyscript';
import type { ModuleDescriptor } from '@svc/contract';
import type { Problem } from './build-error.ts';
import { isUserSource, type Declarations } from './declarations.ts';
import { roleOf } from './registrations.ts';
import { COMPILED, problemAt } from './syntax.ts';
import { walk } from './syntax-walk.ts';
import type { ViewClass } from './view-declaration.ts';

/** Returns the problems of a compiled program. `descriptor`: what is registered. */
export function unregisteredViewProblems(
  program: Program,
  declarations: Declarations,
  { entities, endpoints, views = [], consumers = [] }: ModuleDescriptor,
  entryName: string,
): Problem[] {
  if (entities.length + endpoints.length + views.length + consumers.length === 0) return [];
  const registered = new Set(views.map(({ id }) => id));
  return [...declarations.views.values()].flatMap((view) => {
    if (registered.has(view.id)) return [];
    const client = clientOf(program, view);
    if (client === undefined || !isCompiled(client)) return [];
    return creations(program, declarations, client).map((range) =>
      problemAt(
        range,
        `the view '${view.id}' is queried, and not registered: the service would not have it`,
        `add to ${entryName}, at its top level: register<${view.name}>();`,
      ),
    );
  });
}

/** Returns the class that the compiler has written for the queries of a view. */
function clientOf(program: Program, { name, declaration }: ViewClass): ClassPrototype | undefined {
  const file = program.filesByName.get(declaration.range.source.internalPath);
  const client = file?.getMember(`${name}Client`);
  return client instanceof ClassPrototype ? client : undefined;
}

/** Whether code that is compiled creates objects of the class. */
function isCompiled({ instances }: ClassPrototype): boolean {
  return [...(instances?.values() ?? [])].some(
    ({ constructorInstance }) => constructorInstance?.is(COMPILED) ?? false,
  );
}

/** Returns where objects of a client are created, outside of classes that are not registered themselves. */
function creations(program: Program, declarations: Declarations, client: ClassPrototype): Range[] {
  const ranges: Range[] = [];
  for (const source of program.sources) {
    const file = program.filesByName.get(source.internalPath);
    if (!isUserSource(source) || file === undefined) continue;
    for (const statement of source.statements)
      walk(statement, (node, parents) => {
        if (!(node instanceof NewExpression) || elementOf(file, node.typeName) !== client) return;
        const isOutside = parents.some(
          (parent) =>
            parent instanceof ClassDeclaration &&
            roleOf(declarations, parent) !== undefined &&
            !isInstantiated(program, parent),
        );
        if (!isOutside) ranges.push(node.range);
      });
  }
  return ranges;
}

function isInstantiated(program: Program, declaration: ClassDeclaration): boolean {
  const element = program.elementsByDeclaration.get(declaration);
  return element instanceof ClassPrototype && isCompiled(element);
}

function elementOf(file: File, { identifier, next }: TypeName): Element | null | undefined {
  const element = file.lookup(identifier.text);
  return next === null ? element : element?.getMember(next.identifier.text);
}
