// EntityCalls: finds entities and views that call entities or views. Only handlers of endpoints and consumers may call,
// since a command decides on the state and its input alone, and a view folds events alone. At run time such a call is a
// fault.
import { MethodDeclaration, NewExpression } from 'assemblyscript';
import type { Problem } from './build-error.ts';
import type { EntityClass } from './entity-declaration.ts';
import { problemAt } from './syntax.ts';
import { walk } from './syntax-walk.ts';
import type { ViewClass } from './view-declaration.ts';

/** Returns the problems. `clients`: names of the classes that the compiler writes for calls → their files. */
export function entityCallProblems(
  { declaration, name: caller, ...rest }: EntityClass | ViewClass,
  clients: ReadonlyMap<string, string>,
): Problem[] {
  const problems: Problem[] = [];
  const isView = 'folds' in rest;
  for (const member of declaration.members) {
    if (!(member instanceof MethodDeclaration) || member.body === null) continue;
    walk(member.body, (node) => {
      if (!(node instanceof NewExpression)) return;
      const name = node.typeName.identifier.text;
      if (clients.has(name))
        problems.push(
          problemAt(
            node.range,
            `${isView ? 'view' : 'entity'} '${caller}' cannot call with '${name}': only endpoints and consumers can`,
            isView
              ? 'fold what the events say'
              : 'call in the endpoint, and give the entity what it needs of the answer as its input',
          ),
        );
    });
  }
  return problems;
}
