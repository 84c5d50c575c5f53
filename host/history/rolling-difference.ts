// RollingDifference finds where two versions of a service that run at the same time, on the same journal, do not understand each
// other: events that one stores and the other does not read, calls of entities that one sends and the other refuses,
// replies, and idempotency keys. It runs no code of either version.
//
// Both directions are compared, because each node may own an entity that the other version has written, and is called by handlers of
// both. States are not compared: each version folds its own, and has snapshots of its own.
import type { EntityDescriptor, ModuleDescriptor, TypeSchema } from '@svc/contract';
import { inDescriptor } from './descriptor-finding.ts';
import { type Narrowing, narrowing } from './narrowing.ts';
import { hasSameEncoding } from './same-encoding.ts';
import { type Finding, UpgradeFindings } from './upgrade-finding.ts';

type Handler = EntityDescriptor['commands'][number];

/** A version, by the name that it has in messages. */
interface Version {
  readonly name: 'the running version' | 'the new version';
  readonly descriptor: ModuleDescriptor;
}

/** Compares the version that runs with a new one. */
export function rollingDifferences(
  running: ModuleDescriptor,
  now: ModuleDescriptor,
): readonly Finding[] {
  const findings = new UpgradeFindings();
  const [old, next]: readonly Version[] = [
    { name: 'the running version', descriptor: running },
    { name: 'the new version', descriptor: now },
  ];
  compare(next!, old!, findings);
  compare(old!, next!, findings);
  for (const finding of keyProblems(running, now)) findings.merge(finding);
  return findings.list();
}

/** Adds what the reader does not understand of the writer. */
function compare(writer: Version, reader: Version, findings: UpgradeFindings): void {
  for (const entity of writer.descriptor.entities) {
    const { component } = entity;
    const same = reader.descriptor.entities.find((one) => one.component === component);
    const found =
      same === undefined
        ? [missing(component, reader)]
        : [
            ...eventProblems(entity, writer, same, reader),
            ...callProblems(entity, writer, same, reader),
          ];
    for (const finding of found) findings.merge(finding);
  }
}

function missing(component: string, reader: Version): Finding {
  return inDescriptor('rolling-component-missing', component, reader.name, {
    what:
      `${reader.name} has no component '${component}': its nodes fail calls of it, and do not start again once it has ` +
      'events',
  });
}

function eventProblems(
  { component, event }: EntityDescriptor,
  writer: Version,
  same: EntityDescriptor,
  reader: Version,
): readonly Finding[] {
  if (event.manifest !== same.event.manifest) {
    const what = `${writer.name} stores events as '${event.manifest}', and ${reader.name} reads '${same.event.manifest}'`;
    return [inDescriptor('rolling-event-unread', component, reader.name, { what })];
  }
  const narrowed = between(event.schema, writer, same.event.schema, reader);
  if (narrowed === undefined) return [];
  const what = `${reader.name} does not read every event of ${writer.name}${from(narrowed, 'the event')}`;
  return [inDescriptor('rolling-event-unread', component, reader.name, { what })];
}

function callProblems(
  entity: EntityDescriptor,
  writer: Version,
  same: EntityDescriptor,
  reader: Version,
): readonly Finding[] {
  const { component } = entity;
  const present = [...same.commands, ...same.queries];
  const found: Finding[] = [];
  for (const [kind, handlers] of [
    ['command', entity.commands],
    ['query', entity.queries],
  ] as const)
    for (const handler of handlers) {
      const { name } = handler;
      const subject = `${name} ${reader.name}`;
      const other = present.find((one) => one.name === name);
      if (other === undefined) {
        const what = `${reader.name} has no ${kind} '${name}', which ${writer.name} may send to its nodes`;
        found.push(inDescriptor('rolling-call-refused', component, subject, { what }));
        continue;
      }
      const refused = inputProblem(handler, writer, other, reader);
      if (refused !== undefined) {
        const what = `${reader.name} does not take every input of ${kind} '${name}' of ${writer.name}${from(refused, 'the input')}`;
        found.push(inDescriptor('rolling-call-refused', component, subject, { what }));
      }
      const unread = between(handler.reply, writer, other.reply, reader);
      if (unread !== undefined) {
        const what = `${reader.name} does not read every reply to ${kind} '${name}' of ${writer.name}${from(unread, 'the reply')}`;
        found.push(inDescriptor('rolling-reply-unread', component, subject, { what }));
      }
    }
  return found;
}

/**
 * Finds commands whose input the two versions encode in different ways, although each accepts it. A reply to an idempotency key is found
 * by the text of the input: the same request at a node with the other version looks like another one.
 */
function keyProblems(running: ModuleDescriptor, now: ModuleDescriptor): readonly Finding[] {
  return running.entities.flatMap(({ component, commands }) => {
    const present = now.entities.find((one) => one.component === component)?.commands ?? [];
    return commands.flatMap(({ name, input }) => {
      const same = present.find((one) => one.name === name);
      if (same === undefined || (input === undefined && same.input === undefined)) return [];
      const isSame =
        input !== undefined &&
        same.input !== undefined &&
        hasSameEncoding(
          { type: input, types: running.types },
          { type: same.input, types: now.types },
        );
      if (isSame) return [];
      const what =
        `the two versions write the input of command '${name}' in different ways: a request that is repeated with its idempotency key ` +
        'at a node with the other version is refused';
      return [inDescriptor('rolling-key-refused', component, name, { what })];
    });
  });
}

/** A handler without an input accepts any input. */
function inputProblem(
  handler: Handler,
  writer: Version,
  other: Handler,
  reader: Version,
): Narrowing | undefined {
  return other.input === undefined
    ? undefined
    : between(handler.input ?? { type: 'null' }, writer, other.input, reader);
}

function between(
  written: TypeSchema,
  writer: Version,
  read: TypeSchema,
  reader: Version,
): Narrowing | undefined {
  return narrowing(
    { type: written, types: writer.descriptor.types },
    { type: read, types: reader.descriptor.types },
  );
}

/** Returns the end of a message: where the two types differ, from the type that is written to the one that is read. */
function from({ path, problem }: Narrowing, whole: string): string {
  return `. From the latter to the former: ${path === '' ? whole : path}: ${problem}`;
}
