// ViewQueryProblems: problems of the classes with @find that need no types: the view of each query, and its name.
import type { ClassDeclaration } from 'assemblyscript';
import { VIEW_QUERIES_MAX } from '@svc/contract';
import { didYouMean } from '@svc/contract/suggestion';
import type { Problem } from './build-error.ts';
import { problemAt } from './syntax.ts';
import {
  countMethodOf,
  methodNameOf,
  type ViewClass,
  type ViewQueryClass,
} from './view-declaration.ts';

/** `isRecord`: whether a class is a @data class with fields of its own. */
export function viewQueryProblems(
  views: readonly ViewClass[],
  queries: readonly ViewQueryClass[],
  isRecord: (declaration: ClassDeclaration) => boolean,
): Problem[] {
  const problems: Problem[] = [];
  const counts = new Map<string, number>();
  for (const query of queries) {
    const { declaration, decorator, view: id } = query;
    const { range } = decorator.args?.[0] ?? decorator;
    const view = views.find((one) => one.id === id);
    if (!isRecord(declaration))
      problems.push(
        problemAt(
          declaration.name.range,
          `'${declaration.name.text}' has the parameters of a query: it must be a @data class with fields of its own`,
        ),
      );
    if (view === undefined) {
      const meant = didYouMean(
        id,
        views.map((one) => one.id),
      );
      problems.push(
        problemAt(
          range,
          `there is no view '${id}'.${meant}`,
          '@find("orders", …) names the id of a @view',
        ),
      );
      continue;
    }
    if (view.declaration.range.source !== declaration.range.source)
      problems.push(
        problemAt(
          range,
          `the class of a query stands in the file of its view '${view.name}'`,
          `move it to ${view.declaration.range.source.normalizedPath}, where the compiler writes the client '${view.name}Client'`,
        ),
      );
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    if (count === VIEW_QUERIES_MAX + 1)
      problems.push(problemAt(range, `view '${id}' has more than ${VIEW_QUERIES_MAX} queries`));
  }
  problems.push(...methodProblems(views, queries));
  return problems;
}

/** Problems of the names of the client's methods. */
function methodProblems(
  views: readonly ViewClass[],
  queries: readonly ViewQueryClass[],
): Problem[] {
  const problems: Problem[] = [];
  const names = new Map<string, string>();
  for (const query of queries) {
    const { declaration, decorator, view: id, name } = query;
    const view = views.find((one) => one.id === id);
    if (view === undefined) continue;
    const method = methodNameOf(query);
    const other = names.get(`${id} ${method}`);
    if (other !== undefined)
      problems.push(
        problemAt(
          (decorator.args?.[1] ?? decorator).range,
          `view '${id}' has two queries '${name}', of '${other}' and of '${declaration.name.text}'`,
          `give each a name of its own; both would be the method '${method}' of '${view.name}Client'`,
        ),
      );
    names.set(`${id} ${method}`, declaration.name.text);
    if (method === 'get')
      problems.push(
        problemAt(
          (decorator.args?.[1] ?? decorator).range,
          `the query of '${declaration.name.text}' cannot be named '${name}'`,
          `give it another name: 'get' of '${view.name}Client' finds the row of a key`,
        ),
      );
  }
  for (const query of queries) {
    const { declaration, decorator, view: id, name } = query;
    const taken = names.get(`${id} ${countMethodOf(query)}`);
    if (taken !== undefined)
      problems.push(
        problemAt(
          (decorator.args?.[1] ?? decorator).range,
          `the queries of '${declaration.name.text}' and of '${taken}' need the same method of the client`,
          `give one of them another name: '${countMethodOf(query)}' counts the rows of '${name}'`,
        ),
      );
  }
  return problems;
}
