// ViewProblems: the problems of a descriptor's views and consumers that a schema cannot find.
import { type NamedTypes, type RecordType, fieldColumn, recordOf } from './column-type.ts';
import type {
  ConsumerDescriptor,
  ModuleDescriptor,
  ViewDescriptor,
} from './module-descriptor-schema.ts';
import { didYouMean } from './suggestion.ts';
import { planViewQuery } from './view-query-planner.ts';

/** The version of `svc:runtime` whose modules export neither views nor consumers. */
const VERSION_WITHOUT_FOLLOWERS = '0.1.0';

/**
 * Finds the problems one after another, so that the caller stops the work when it has enough of them. Entities, views
 * and consumers share their ids: all of them are named in addresses, messages and metrics.
 */
export function* followerProblems(descriptor: ModuleDescriptor): Iterable<string> {
  const { protocol, entities, views = [], consumers = [], types } = descriptor;
  if (protocol === VERSION_WITHOUT_FOLLOWERS && views.length + consumers.length > 0)
    yield `views and consumers need a newer svc:runtime than ${protocol}: build the module with a newer SDK`;
  const components = new Set(entities.map(({ component }) => component));
  const taken = new Map([...components].map((component) => [component, 'an entity']));
  for (const view of views) {
    yield* idProblems('view', view.id, taken);
    yield* sourceProblems(`view '${view.id}'`, view, components);
    for (const problem of viewProblems(view, types)) yield `view '${view.id}': ${problem}`;
  }
  for (const consumer of consumers) {
    yield* idProblems('consumer', consumer.id, taken);
    yield* sourceProblems(`consumer '${consumer.id}'`, consumer, components);
  }
}

/** `taken`: the kind of what has an id, which the function adds to. */
function* idProblems(
  kind: 'view' | 'consumer',
  id: string,
  taken: Map<string, string>,
): Iterable<string> {
  const other = taken.get(id);
  if (other === `a ${kind}`) yield `${kind} '${id}' is declared twice`;
  else if (other !== undefined) yield `${kind} '${id}' has the id of ${other}: give it another`;
  else taken.set(id, `a ${kind}`);
}

/** Components among which the intended one of a mistyped source is looked for. */
const SUGGESTED_SOURCES_MAX = 100;

function* sourceProblems(
  label: string,
  { sources }: ViewDescriptor | ConsumerDescriptor,
  components: ReadonlySet<string>,
): Iterable<string> {
  const seen = new Set<string>();
  for (const source of sources) {
    if (seen.has(source)) yield `${label}: the source '${source}' is named twice`;
    else if (!components.has(source))
      yield `${label}: the source '${source}' is not an entity of the module.${didYouMean(
        source,
        [...components].slice(0, SUGGESTED_SOURCES_MAX),
      )}`;
    seen.add(source);
  }
}

function* viewProblems(view: ViewDescriptor, types: NamedTypes): Iterable<string> {
  const row = recordOf(view.row, types);
  if (row === undefined) {
    yield 'its row is not a record';
    return;
  }
  const before = new Set<string>();
  for (const index of view.indexes) {
    const text = JSON.stringify(index);
    if (before.has(text)) yield `the index ${text} is declared twice`;
    before.add(text);
    for (const problem of indexProblems(index, row, types)) yield `the index ${text}: ${problem}`;
  }
  const names = new Set<string>();
  for (const { name, where, parameters } of view.queries) {
    if (names.has(name)) yield `the query '${name}' is declared twice`;
    names.add(name);
    const planned = planViewQuery(where, parameters, view, types);
    if (planned.ok) continue;
    const { message, offset } = planned.problem;
    yield `the query '${name}'${offset === undefined ? '' : `, at character ${offset + 1}`}: ${message}`;
  }
}

function* indexProblems(
  index: readonly string[],
  row: RecordType,
  types: NamedTypes,
): Iterable<string> {
  const seen = new Set<string>();
  for (const field of index) {
    if (seen.has(field)) yield `the field '${field}' stands in it twice`;
    seen.add(field);
    const column = fieldColumn(row, field, types);
    if (!column.ok) yield `'${field}' ${column.problem}`;
  }
}
