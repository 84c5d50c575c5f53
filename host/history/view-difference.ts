// ViewDifference finds the views, queries, schedules and consumers that a new module has dropped, and the queries that it has
// changed, where callers would notice. It runs no code of either module.
import {
  type ModuleDescriptor,
  parseViewQuery,
  type TypeSchema,
  type ViewDescriptor,
} from '@svc/contract';
import { inDescriptor } from './descriptor-finding.ts';
import { likelyRename } from './likely-rename.ts';
import { narrowing } from './narrowing.ts';
import { typeDifferences } from './state-comparison.ts';
import type { Finding } from './upgrade-finding.ts';

type Query = ViewDescriptor['queries'][number];
type Types = ModuleDescriptor['types'];

interface ViewIn {
  readonly view: ViewDescriptor;
  readonly types: Types;
}

export function viewDifferences(before: ModuleDescriptor, now: ModuleDescriptor): Finding[] {
  const present = now.views ?? [];
  return (before.views ?? []).flatMap((view) => {
    const { id } = view;
    const same = present.find((one) => one.id === id);
    if (same !== undefined)
      return changes({ view, types: before.types }, { view: same, types: now.types });
    const renamed = renamedTo(id, before.views, present, (one) => formOf(one) === formOf(view));
    return [inDescriptor('view-removed', id, id, { what: `view '${id}' is gone`, renamed })];
  });
}

/** Returns what views that differ only in their ids have in common. */
function formOf({ sources, queries }: ViewDescriptor): string {
  return JSON.stringify([sources, queries]);
}

/** Compares the queries of a view that both modules have, and its rows if it has queries. */
function changes(before: ViewIn, now: ViewIn): Finding[] {
  const { id, queries } = before.view;
  const found = queries.flatMap((query) => queryChanges(query, before, now));
  if (queries.length === 0) return found;
  return [...found, ...rowChanges(id, before, now)];
}

function queryChanges(query: Query, before: ViewIn, now: ViewIn): Finding[] {
  const { id } = before.view;
  const { name } = query;
  const same = now.view.queries.find((one) => one.name === name);
  if (same === undefined) {
    const form = ({ where, parameters }: Query) => JSON.stringify([where, parameters]);
    const names = (queries: readonly Query[]) => queries.map((one) => ({ ...one, id: one.name }));
    const renamed = renamedTo(
      name,
      names(before.view.queries),
      names(now.view.queries),
      (one) => form(one) === form(query),
    );
    const what = `query '${name}' is gone`;
    return [inDescriptor('view-query-removed', id, name, { what, renamed })];
  }
  const narrowed = narrowing(
    { type: query.parameters ?? NO_PARAMETERS, types: before.types },
    { type: same.parameters ?? NO_PARAMETERS, types: now.types },
  );
  if (narrowed === undefined) return conditionChanges(id, query, same);
  const path = narrowed.path === '' ? 'its parameters' : narrowed.path;
  const what = `query '${name}' takes less than it did: ${path}: ${narrowed.problem}`;
  return [inDescriptor('view-query-narrowed', id, name, { what })];
}

/** Compares the conditions, in any order, and the order of the rows. */
function conditionChanges(view: string, before: Query, now: Query): Finding[] {
  if (meaningOf(before) === meaningOf(now)) return [];
  const what = `query '${before.name}' finds other rows, or in another order: it was '${before.where}', and is '${now.where}'`;
  return [inDescriptor('view-query-changed', view, before.name, { what })];
}

/** Returns what a query finds, as a text that does not depend on how the query is written. */
function meaningOf({ where }: Query): string {
  const parsed = parseViewQuery(where);
  if ('message' in parsed) return where;
  const { conditions, order } = parsed;
  const compared = conditions.map(({ column, operator, parameter }) =>
    JSON.stringify([column, operator, parameter]),
  );
  return JSON.stringify([compared.toSorted(), order?.column, order?.descending]);
}

/** A query without parameters accepts an object with any fields. */
const NO_PARAMETERS: TypeSchema = { type: 'object', properties: {}, required: [] };

/** Compares the rows as a caller reads them: it knows the type of the rows before. */
function rowChanges(id: string, before: ViewIn, now: ViewIn): Finding[] {
  const old = { type: before.view.row, types: before.types };
  const present = { type: now.view.row, types: now.types };
  const found = typeDifferences(old, present).map(({ kind, path, renamed }) => {
    const what = `in the rows, ${path === '' ? 'the whole row' : path} ${kind === 'removed' ? 'is gone' : 'has another type'}`;
    return inDescriptor('view-row-changed', id, path, { what, renamed });
  });
  if (found.length > 0) return found;
  const wider = narrowing(present, old);
  if (wider === undefined) return [];
  const what = `in the rows, ${wider.path} has values that a reader of the rows before refuses: ${wider.problem}`;
  return [inDescriptor('view-row-changed', id, wider.path, { what })];
}

export function scheduleDifferences(before: ModuleDescriptor, now: ModuleDescriptor): Finding[] {
  const present = now.schedules ?? [];
  return (before.schedules ?? [])
    .filter(({ id }) => !present.some((one) => one.id === id))
    .map(({ id, target, command }) => {
      const renamed = renamedTo(
        id,
        before.schedules,
        present,
        (one) => one.command === command && one.target.component === target.component,
      );
      const what = `schedule '${id}' is gone, and its command '${command}' is sent no more`;
      return inDescriptor('schedule-removed', id, id, { what, renamed });
    });
}

export function consumerDifferences(before: ModuleDescriptor, now: ModuleDescriptor): Finding[] {
  return (before.consumers ?? []).flatMap(({ id, sources }) => {
    const same = now.consumers?.find((one) => one.id === id);
    if (same === undefined) return [consumerRemoved(id, now, before)];
    const removed = sources.filter((source) => !same.sources.includes(source));
    const added = same.sources.filter((source) => !sources.includes(source));
    return [
      ...removed.map((source) => sourceRemoved(id, source)),
      ...added.map((source) =>
        inDescriptor('consumer-source-added', id, source, {
          what: `consumer '${id}' gets events of component '${source}' from where it is in the journal, and none of before`,
        }),
      ),
    ];
  });
}

/** The finding about a component whose events a consumer no longer handles. */
export function sourceRemoved(consumer: string, source: string): Finding {
  return inDescriptor('consumer-source-removed', consumer, source, {
    what: `consumer '${consumer}' no longer handles events of component '${source}', and those that wait for it are parked`,
  });
}

/** The finding about a consumer that the new module does not have. `before`: undefined if it is not known. */
export function consumerRemoved(
  id: string,
  now: ModuleDescriptor,
  before: ModuleDescriptor | undefined,
): Finding {
  const old = before?.consumers?.find((one) => one.id === id);
  const renamed = renamedTo(
    id,
    before?.consumers,
    now.consumers ?? [],
    ({ sources }) => old !== undefined && JSON.stringify(sources) === JSON.stringify(old.sources),
  );
  return inDescriptor('consumer-removed', id, id, {
    what: `consumer '${id}' is gone`,
    renamed,
    help: 'a consumer with another id begins anew',
  });
}

interface Declared {
  readonly id: string;
}

/** Returns the id of a declaration that is new, and that the missing one was perhaps renamed to; undefined if none is likely. */
function renamedTo<Declaration extends Declared>(
  gone: string,
  before: readonly Declared[] = [],
  now: readonly Declaration[],
  isAlike: (declaration: Declaration) => boolean,
): string | undefined {
  const known = new Set(before.map(({ id }) => id));
  const added = now.filter(({ id }) => !known.has(id));
  return likelyRename(
    gone,
    added.map(({ id }) => id),
    (name) => isAlike(added.find(({ id }) => id === name)!),
  );
}
