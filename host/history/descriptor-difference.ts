// DescriptorDifference finds the declarations that a new module has dropped or changed, where callers or stored
// events would notice. It runs no code of either module.
import type { EntityDescriptor, ModuleDescriptor } from '@svc/contract';
import { inDescriptor } from './descriptor-finding.ts';
import { likelyRename } from './likely-rename.ts';
import { narrowing } from './narrowing.ts';
import { routeDifferences } from './route-difference.ts';
import { typeDifferences } from './state-comparison.ts';
import type { Finding } from './upgrade-finding.ts';
import { consumerDifferences, scheduleDifferences, viewDifferences } from './view-difference.ts';

type Handler = EntityDescriptor['commands'][number];

/**
 * Compares two descriptors. `stored`: components whose events the journal holds. If the new module has no such
 * component, nothing is reported here, because folding the events reports it.
 */
export function descriptorDifferences(
  before: ModuleDescriptor,
  now: ModuleDescriptor,
  stored: ReadonlySet<string>,
): readonly Finding[] {
  const found: Finding[] = [];
  for (const entity of before.entities) {
    const { component } = entity;
    const other = now.entities.find((one) => one.component === component);
    if (other !== undefined) found.push(...entityDifferences(entity, before, other, now));
    else if (!stored.has(component))
      found.push(
        inDescriptor('component-removed', component, component, {
          what: `component '${component}' is gone`,
          renamed: renamedComponent(component, entity.event.manifest, now, before),
        }),
      );
  }
  found.push(...routeDifferences(before, now));
  found.push(...viewDifferences(before, now));
  found.push(...scheduleDifferences(before, now), ...consumerDifferences(before, now));
  return found;
}

/**
 * Returns the component of the new module that a missing component was perhaps renamed to: one with the same
 * manifest, or with a similar name. Returns undefined if none is likely. `before`: the previous module, whose
 * components are no candidates; undefined: all components of the new module are candidates.
 */
export function renamedComponent(
  component: string,
  manifest: string,
  now: ModuleDescriptor,
  before?: ModuleDescriptor,
): string | undefined {
  const known = new Set(before?.entities.map((entity) => entity.component));
  const added = now.entities.filter((entity) => !known.has(entity.component));
  return likelyRename(
    component,
    added.map((entity) => entity.component),
    (name) => added.find((entity) => entity.component === name)!.event.manifest === manifest,
  );
}

function entityDifferences(
  before: EntityDescriptor,
  beforeModule: ModuleDescriptor,
  now: EntityDescriptor,
  nowModule: ModuleDescriptor,
): Finding[] {
  const { component } = before;
  const found: Finding[] = [];
  const present = [...now.commands, ...now.queries];
  for (const [kind, handlers, others] of [
    ['command', before.commands, now.commands],
    ['query', before.queries, now.queries],
  ] as const)
    for (const handler of handlers) {
      const same = present.find(({ name }) => name === handler.name);
      if (same === undefined) {
        found.push(
          inDescriptor(`${kind}-removed`, component, handler.name, {
            what: `${kind} '${handler.name}' is gone`,
            renamed: renamedHandler(handler, before, others),
          }),
        );
        continue;
      }
      const narrowed = narrowing(
        { type: handler.input ?? { type: 'null' }, types: beforeModule.types },
        // A handler without an input accepts any input.
        {
          type: same.input ?? handler.input ?? { type: 'null' },
          types: same.input === undefined ? beforeModule.types : nowModule.types,
        },
      );
      if (narrowed !== undefined)
        found.push(
          inDescriptor('input-narrowed', component, handler.name, {
            what:
              `${kind} '${handler.name}' takes less than it did: ` +
              `${narrowed.path === '' ? 'its input' : narrowed.path}: ${narrowed.problem}`,
          }),
        );
    }
  const differences = typeDifferences(
    { type: before.state.schema, types: beforeModule.types },
    { type: now.state.schema, types: nowModule.types },
  );
  for (const { kind, path, renamed } of differences) {
    const field = path === '' ? 'the state' : path;
    const what = `in the state, ${field} ${kind === 'removed' ? 'is gone' : 'has another type'}`;
    const help = 'an alias of that says so';
    found.push(inDescriptor(`state-field-${kind}`, component, field, { what, renamed, help }));
  }
  return found;
}

/** Returns the handler that a removed handler was perhaps renamed to; undefined if none is likely. */
function renamedHandler(
  gone: Handler,
  before: EntityDescriptor,
  candidates: readonly Handler[],
): string | undefined {
  const known = new Set([...before.commands, ...before.queries].map(({ name }) => name));
  const added = candidates.filter(({ name }) => !known.has(name));
  const form = ({ input, reply }: Handler) => JSON.stringify([input, reply]);
  return likelyRename(
    gone.name,
    added.map(({ name }) => name),
    (name) => form(added.find((one) => one.name === name)!) === form(gone),
  );
}
