// AskedQuery explains what is wrong with a query of a view that a person has written: which view, query or parameter there is
// instead. The compiler of a module checks the queries of handlers.
import { type ModuleDescriptor, recordOf } from '@svc/contract';
import { didYouMean } from '@svc/contract/suggestion';
import { quoted } from '../engine/quoted.ts';
import { type Refusal, refusal } from '@svc/model/call';
import { COUNT_PREFIX, KEY_QUERY, type RowQuery } from '@svc/model/view';

/** Returns a refusal of a query whose view, name or parameters the module does not have; undefined: it has them. */
export function askedQueryProblem(
  { views = [], types }: Pick<ModuleDescriptor, 'views' | 'types'>,
  { view, query, input }: Pick<RowQuery, 'view' | 'query' | 'input'>,
): Refusal | undefined {
  const declared = views.find(({ id }) => id === view);
  if (declared === undefined)
    return refusal(
      'NOT_FOUND',
      unknownName(
        `there is no view ${quoted(view)}`,
        view,
        'views',
        views.map(({ id }) => id),
      ),
    );
  if (query === KEY_QUERY) return undefined;
  const { queries } = declared;
  const name = query.startsWith(COUNT_PREFIX) ? query.slice(COUNT_PREFIX.length) : query;
  const found = queries.find((one) => one.name === name);
  if (found === undefined) {
    const known = queries.map((one) => one.name);
    const what = `the view '${view}' has no query ${quoted(name)}`;
    return refusal('NOT_FOUND', unknownName(what, name, 'queries', known));
  }
  const parameters = found.parameters && recordOf(found.parameters, types);
  if (parameters === undefined) return undefined;
  const known = Object.keys(parameters.properties);
  const others = Object.values(parameters.aliases ?? {}).flat();
  const unknown = membersOf(input).find((member) => ![...known, ...others].includes(member));
  if (unknown === undefined) return undefined;
  const what = `the query '${name}' of the view '${view}' has no parameter ${quoted(unknown)}`;
  return refusal('BAD_REQUEST', unknownName(what, unknown, 'parameters', known));
}

function unknownName(what: string, name: string, kind: string, known: readonly string[]): string {
  const list = known.length === 0 ? `There are no ${kind}` : `The ${kind} are: ${known.join(', ')}`;
  return `${what}.${didYouMean(name, known)} ${list}`;
}

/** Returns the names of the members of an object in JSON; of any other text, none. */
function membersOf(json: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.keys(value)
      : [];
  } catch {
    return [];
  }
}
