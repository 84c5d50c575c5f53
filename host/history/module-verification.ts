// ModuleVerification checks the folds of a module over many entities: those of a journal, those of a file of events,
// or generated events of each kind if there is neither.
import type { ModuleDescriptor } from '@svc/contract';
import { type Incarnation, incarnationOf } from '../engine/entity/incarnation.ts';
import { quoted } from '../engine/quoted.ts';
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import type { EntityRef, StoredEvent } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInspection } from '../storage/journal-inspection.ts';
import { incarnationsOfFile } from './event-file.ts';
import { isOfSource } from './fold-failure.ts';
import { journalIncarnations } from './journal-incarnations.ts';
import { componentIds, notInSource } from './not-in-source.ts';
import type { PurityFinding } from './purity-finding.ts';
import { PurityVerification, verifiedStarter } from './purity-verification.ts';
import { sampleEvents } from './sample-json.ts';
import { waiting } from './steps.ts';

/** Result of checking one entity. */
export interface VerifiedEntity {
  readonly entity: EntityRef;
  readonly eventCount: number;
  readonly findings: readonly PurityFinding[];
  /** The reason why the entity could not be checked: damage, or an event or a state at which the module fails. */
  readonly failure: SvcError | undefined;
}

export interface VerificationQuestion {
  readonly source: GuestSource;
  readonly settings: HostingSettings;
  /** Journal whose entities are checked; absent: none. */
  readonly inspection?: JournalInspection;
  /** Path of a file of events; absent: none. */
  readonly eventsFile?: string;
}

type Subject = Incarnation | { readonly entity: EntityRef; readonly failure: SvcError };

/**
 * Checks one entity after the other. Throws SVC_MODULE_START_FAILED, SVC_PROGRAM_INVALID, SVC_PROCESS_…, SVC_JOURNAL_…,
 * SVC_EVENTS_INVALID, and SVC_NOT_IN_MODULE for a component that has stored entities but is not declared by the source.
 */
export async function* verifyModule(
  question: VerificationQuestion,
): AsyncGenerator<VerifiedEntity> {
  const { source, settings, inspection, eventsFile } = question;
  const verification = new PurityVerification(await verifiedStarter(source, settings));
  const { descriptor } = source;
  if (inspection !== undefined) {
    const components = (await inspection.components()).map(({ component }) => component);
    yield* verified(verification, source, components, journalIncarnations(inspection, components));
  }
  if (eventsFile !== undefined) {
    const incarnations = await incarnationsOfFile(eventsFile, descriptor);
    const components = incarnations.map(({ entity }) => entity.component);
    yield* verified(verification, source, components, incarnations);
  }
  if (inspection === undefined && eventsFile === undefined)
    yield* verified(verification, source, [], sampleIncarnations(verification, descriptor));
}

async function* verified(
  verification: PurityVerification,
  { kind, descriptor }: GuestSource,
  components: readonly string[],
  subjects: Iterable<Subject> | AsyncIterable<Subject>,
): AsyncGenerator<VerifiedEntity> {
  const known = new Set(componentIds(descriptor));
  const foreign = components.find((one) => !known.has(one));
  if (foreign !== undefined) {
    const what = `component ${quoted(foreign)}, of which there are entities`;
    throw notInSource(kind, what, foreign, [...known]);
  }
  /** The last checked incarnation of each component, which is folded beside the component's next one. */
  const before = new Map<string, Incarnation>();
  for await (const subject of subjects) {
    const { entity } = subject;
    if ('failure' in subject) {
      yield { entity, eventCount: 0, findings: [], failure: subject.failure };
      continue;
    }
    const beside = before.get(entity.component);
    yield await judged(verification, subject, beside === undefined ? [] : [beside]);
    before.set(entity.component, subject);
  }
}

async function judged(
  verification: PurityVerification,
  incarnation: Incarnation,
  others: readonly Incarnation[],
): Promise<VerifiedEntity> {
  const { entity, afterSeq, lastSeq } = incarnation;
  const eventCount = lastSeq - afterSeq;
  try {
    const findings: PurityFinding[] = [];
    await waiting(verification.findings(incarnation, others, (one) => findings.push(one)));
    return { entity, eventCount, findings, failure: undefined };
  } catch (failure) {
    if (!(failure instanceof SvcError)) throw failure;
    if (isOfSource(failure)) throw failure;
    return { entity, eventCount, findings: [], failure };
  }
}

/**
 * Yields incarnations of generated events: each kind of event twice, then all kinds twice. Events that the entity
 * refuses are left out.
 */
async function* sampleIncarnations(
  verification: PurityVerification,
  descriptor: ModuleDescriptor,
): AsyncGenerator<Incarnation> {
  for (const component of descriptor.entities) {
    const { manifest } = component.event;
    const madeUp = (id: string, events: readonly StoredEvent[]) =>
      incarnationOf({ component: component.component, id: `made-up ${id}` }, events);
    const events = sampleEvents(descriptor, component).map((json) => ({ manifest, json }));
    for (const event of events) {
      const twice = madeUp(typeOf(event), [event, event]);
      // Events that only a used instance can fold are yielded too: they depend on more than the events, and the check
      // finds that.
      if (
        (await isFoldable(verification, twice)) ||
        (await waiting(verification.isFoldedWhenUsed(twice)))
      )
        yield twice;
    }
    const taken: StoredEvent[] = [];
    for (const event of [...events, ...events])
      if (await isFoldable(verification, madeUp('events', [...taken, event]))) taken.push(event);
    yield madeUp('events', taken);
  }
}

function typeOf({ json }: StoredEvent): string {
  const event = JSON.parse(json) as { readonly type?: unknown } | null;
  return typeof event?.type === 'string' ? event.type : 'event';
}

async function isFoldable(
  verification: PurityVerification,
  incarnation: Incarnation,
): Promise<boolean> {
  try {
    await waiting(verification.stateOf(incarnation));
    return true;
  } catch (failure) {
    if (!(failure instanceof SvcError) || isOfSource(failure)) throw failure;
    return false;
  }
}
