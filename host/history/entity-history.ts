// EntityHistory computes an entity's state at any point of its history with the folds of a module or a program, the
// changes that each event made, and the effect that a command would have at that point. Nothing is persisted: the
// journal is only read, effects are discarded, and the guest's instances serve the history alone.
import type { EntityDescriptor } from '@svc/contract';
import { ENGINE_LIMITS_DEFAULT } from '../engine/engine-limits.ts';
import { replyTo } from '../engine/entity/applied-effect.ts';
import { BatchSizes, EventFold, problemOf } from '../engine/entity/event-fold.ts';
import { FoldBudget } from '../engine/entity/fold-budget.ts';
import { effectFault, outcomeFault, storable } from '../engine/entity/guest-answer.ts';
import { incarnationOf } from '../engine/entity/incarnation.ts';
import { PurityCheck } from '../engine/entity/purity-check.ts';
import { replay } from '../engine/entity/replay.ts';
import type { Guest, GuestEntity } from '@svc/model/guest';
import { quoted } from '../engine/quoted.ts';
import type { GuestSource, HostingSettings, SourceKind } from '../hosting/guest-source.ts';
import type { GuestLogLine } from '@svc/model/guest-log';
import { type GuestStarter, guestStarter } from '../hosting/start-guest.ts';
import { deletesEntity } from '@svc/model/call';
import type { CallContext, Effect, Refusal } from '@svc/model/call';
import type { EntityRef, JournalRecord, StoredEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInspection } from '../storage/journal-inspection.ts';
import { systemClock, systemEventLoop } from '../system.ts';
import { faultLine } from './fault-line.ts';
import { eventFailure, foldFailure, stateFailure } from './fold-failure.ts';
import { type HistoryPoint, IncarnationAt } from './incarnation-at.ts';
import { componentIds, notInSource } from './not-in-source.ts';
import { type StateChanges, stateChanges } from './state-changes.ts';

export interface PastState {
  /** Sequence number of the last record up to the point; 0 before the first record. */
  readonly seq: number;
  /** Time of that record, in milliseconds since 1970; undefined before the first record. */
  readonly timeMs: number | undefined;
  /** True if that record is a deletion; the state is then the empty state. */
  readonly isDeleted: boolean;
  /** JSON text. */
  readonly state: string;
}

export interface HistoryStep extends StateChanges {
  readonly record: JournalRecord;
}

export interface WhatIfCommand extends CallContext {
  readonly name: string;
  /** JSON text. */
  readonly input: string;
}

/** The effect that a command would have. */
export type WhatIfResult =
  | (StateChanges & {
      readonly kind: 'effect';
      readonly events: readonly StoredEvent[];
      readonly deletesEntity: boolean;
      /** JSON text. */
      readonly reply: string;
    })
  | Refusal
  /** `message`: the message that a service would log. */
  | { readonly kind: 'fault'; readonly message: string };

export interface WhatIfOutcome {
  readonly outcome: WhatIfResult;
  /** Lines that the module logged during the command. */
  readonly log: readonly GuestLogLine[];
}

export interface HistorySource {
  readonly inspection: JournalInspection;
  readonly source: GuestSource;
  readonly settings: HostingSettings;
  readonly entity: EntityRef;
}

/**
 * The history of one entity. `stateAt`, `steps` and `whatIf` throw SVC_NOT_IN_JOURNAL, the SVC_JOURNAL_… errors of
 * the inspection, SVC_EVENT_UNREADABLE for an event that the module cannot decode, and SVC_FOLD_FAULTED if the module
 * faults at an event or a state.
 */
export class EntityHistory {
  readonly #inspection: JournalInspection;
  readonly #kind: SourceKind;
  readonly #guest: Guest;
  readonly #entity: EntityRef;
  readonly #component: EntityDescriptor;
  #log: GuestLogLine[] = [];

  /**
   * Rejects with SVC_NOT_IN_MODULE if the source has no such component, and with SVC_MODULE_START_FAILED and
   * SVC_PROGRAM_INVALID.
   */
  static async open(of: HistorySource): Promise<EntityHistory> {
    return new EntityHistory(of, await guestStarter(of.source, of.settings));
  }

  private constructor({ inspection, source, entity }: HistorySource, start: GuestStarter) {
    const { kind, descriptor } = source;
    const component = descriptor.entities.find((one) => one.component === entity.component);
    if (component === undefined) {
      const what = `component ${quoted(entity.component)}`;
      throw notInSource(kind, what, entity.component, componentIds(descriptor));
    }
    this.#inspection = inspection;
    this.#kind = kind;
    this.#entity = entity;
    this.#component = component;
    this.#guest = start((line) => this.#log.push(line));
  }

  /** Returns the state at the point. */
  async stateAt(point: HistoryPoint): Promise<PastState> {
    const at = await IncarnationAt.find(this.#inspection, this.#entity, point);
    const { seq, timeMs, isDeleted } = at;
    const guest = await this.#folded(at);
    try {
      return { seq, timeMs, isDeleted, state: await this.#stateOf(guest, seq) };
    } finally {
      guest.close();
    }
  }

  /**
   * Yields the records of the incarnation in which the point lies, up to the point, each with the changes that it
   * made.
   */
  async *steps(point: HistoryPoint): AsyncGenerator<HistoryStep> {
    const at = await IncarnationAt.find(this.#inspection, this.#entity, point);
    const guest = await this.#opened(at.afterSeq);
    try {
      const fold = new EventFold(guest, at.afterSeq, new BatchSizes([1]));
      let state = await this.#stateOf(guest, at.afterSeq);
      for await (const record of at.records()) {
        // A deletion is the last record of its incarnation, and is not folded.
        if (record.kind === 'deleted') {
          yield { record, changes: [], moreCount: 0 };
          continue;
        }
        const stop = await fold.events([record.event]);
        if (stop !== undefined) throw eventFailure(this.#entity, record.seq, problemOf(stop));
        const next = await this.#stateOf(guest, record.seq);
        yield { record, ...stateChanges(state, next) };
        state = next;
      }
    } finally {
      guest.close();
    }
  }

  /**
   * Decides a command at the point, without storing anything. Throws SVC_NOT_IN_MODULE if the component has no such
   * command.
   */
  async whatIf(point: HistoryPoint, command: WhatIfCommand): Promise<WhatIfOutcome> {
    const { component, commands } = this.#component;
    const names = commands.map(({ name }) => name);
    if (!names.includes(command.name)) {
      const what = `command ${quoted(command.name)} of component ${quoted(component)}`;
      throw notInSource(this.#kind, what, command.name, names);
    }
    const guest = await this.#folded(
      await IncarnationAt.find(this.#inspection, this.#entity, point),
    );
    try {
      this.#log = [];
      const outcome = await this.#resultOf(guest, command);
      return { outcome, log: this.#log };
    } finally {
      guest.close();
    }
  }

  close(): void {
    void this.#guest.close();
  }

  async #resultOf(guest: GuestEntity, command: WhatIfCommand): Promise<WhatIfResult> {
    try {
      const before = await guest.snapshot();
      const decided = await guest.command(command, command.name, command.input);
      const decision = storable(decided, ENGINE_LIMITS_DEFAULT);
      if (decision.kind === 'refusal') {
        const fault = outcomeFault(decision, ENGINE_LIMITS_DEFAULT);
        return fault === undefined ? decision : faulted(fault);
      }
      return await this.#effect(guest, before, decision, command);
    } catch (fault) {
      return faulted(fault);
    }
  }

  async #effect(
    guest: GuestEntity,
    before: string,
    effect: Effect,
    command: WhatIfCommand,
  ): Promise<WhatIfResult> {
    const { events } = effect;
    const { manifest } = this.#component.event;
    const fault = effectFault(effect, manifest, ENGINE_LIMITS_DEFAULT);
    if (fault !== undefined) return faulted(fault);
    const problem = events.length === 0 ? undefined : await guest.apply(events, undefined);
    if (problem !== undefined)
      return { kind: 'fault', message: `It persists an event that does not decode: ${problem}` };
    const { json } = await replyTo(guest, effect, command, command.name, ENGINE_LIMITS_DEFAULT);
    const changes = stateChanges(before, await guest.snapshot());
    return {
      kind: 'effect',
      events,
      deletesEntity: deletesEntity(effect),
      reply: json,
      ...changes,
    };
  }

  async #folded(at: IncarnationAt): Promise<GuestEntity> {
    const needs = {
      // The purity check fails a command that changes the state in place, as in a service.
      entities: new PurityCheck(this.#guest.entities, this.#guest.descriptor, 1),
      incarnation: () => (at.isDeleted ? incarnationOf(this.#entity, [], at.seq + 1) : at),
      foldBudget: new FoldBudget(systemClock, systemEventLoop),
      limits: { replayTimeoutMs: Infinity },
    };
    const folded = await replay(needs, this.#entity, true);
    if (folded.kind === 'faulted') throw foldFailure(folded.fault);
    return folded.guest;
  }

  async #opened(afterSeq: number): Promise<GuestEntity> {
    try {
      return await this.#guest.entities.open(this.#entity, undefined, true);
    } catch (fault) {
      if (!(fault instanceof GuestFault)) throw fault;
      throw stateFailure(this.#entity, afterSeq, fault);
    }
  }

  async #stateOf(guest: GuestEntity, seq: number): Promise<string> {
    try {
      return await guest.snapshot();
    } catch (fault) {
      if (!(fault instanceof GuestFault)) throw fault;
      throw stateFailure(this.#entity, seq, fault);
    }
  }
}

function faulted(fault: unknown): WhatIfResult {
  if (fault instanceof SvcError)
    return { kind: 'fault', message: `${fault.message} [${fault.code}]` };
  if (!(fault instanceof GuestFault)) throw fault;
  const line = faultLine(fault);
  const words = line === undefined ? '' : ` (${line})`;
  return { kind: 'fault', message: `${fault.message.replace(/\.$/, '')}${words}.` };
}
