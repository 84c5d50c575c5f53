// LiveEntity owns one entity in memory: its guest state, the calls that wait for it, and the
// answers that wait for the disk. It decides nothing of its own and knows no other entity.
//
// Invariants
// I1  Calls reach the guest one at a time, in arrival order.
// I2  The guest's state is what the journal holds plus the appends under way, or there is no guest.
// I3  An outcome leaves after every append that was made before it has settled, in arrival order.
//     A fault leaves at once: it says nothing of the state.
// I4  The journal is replayed only while no append is under way.
// I5  What was decided on a state that did not reach the disk is never answered: commands fail with
//     the append, queries run again on the rebuilt state.
// I6  Idle (no call, no append) and with a guest: in the idle list. Idle without one: gone.
import assert from 'node:assert';
import { deletesEntity } from '../../model/call.ts';
import type { Awaitable, CallContext, Effect, Refusal, Reply } from '../../model/call.ts';
import type { EntityRef, JournalRecord } from '../../model/entity.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { GuestEntity } from '../needs/guest.ts';
import type { StoredReply } from '../needs/journal.ts';
import { applyEffect } from './applied-effect.ts';
import type { CommandKey } from './command-key.ts';
import type { EntityCall, Outcome } from './entity-call.ts';
import { effectFault, outcomeFault, storable } from './guest-answer.ts';
import { EntitySnapshots } from './entity-snapshots.ts';
import { entityName } from './history.ts';
import { answerToKeep, isForgotten, repeatedOutcome } from './idempotency.ts';
import { HeldCalls } from './held-calls.ts';
import type { Idler } from './idle-list.ts';
import { recordsOf } from './recorded-effect.ts';
import { replay } from './replay.ts';
import type { Surroundings } from './surroundings.ts';
import { answerBytes, appendBytes, diskTooSlow } from './unsettled-bytes.ts';

/** A guest's call under way; undefined when it came back at once. */
type Step = Promise<void> | undefined;

/** For so long calls that have waited are served without letting others go first. */
const SLICE_MS = 10;

export class LiveEntity implements Idler {
  readonly ref: EntityRef;
  idleBefore: Idler | undefined = undefined;
  idleAfter: Idler | undefined = undefined;
  /** When it was called last. */
  usedMs = 0;
  readonly #around: Surroundings<LiveEntity>;
  readonly #eventManifest: string;
  #guest: GuestEntity | undefined = undefined;
  /** Of the last record that was decided, on disk or not. */
  #seq = 0;
  /** Calls that did not reach the guest yet. */
  #queue: EntityCall[] = [];
  /** Calls whose outcome waits for the disk. */
  readonly #held: HeldCalls;
  /** Appends under way. */
  #unsettled = 0;
  /** True while a replay or a guest's call is under way. */
  #working = false;
  /** An append failed while a guest's call was under way: its outcome counts no more. */
  #lostAppend: SvcError | undefined = undefined;
  /** Queries that were held on it: they run again before all that came later. */
  #again: EntityCall[] = [];
  readonly #snapshots: EntitySnapshots;
  readonly #settled = (failure?: SvcError): void => this.#appendSettled(failure);

  constructor(ref: EntityRef, eventManifest: string, around: Surroundings<LiveEntity>) {
    this.ref = ref;
    this.#eventManifest = eventManifest;
    this.#around = around;
    this.#snapshots = new EntitySnapshots(around.snapshots, ref);
    this.#held = new HeldCalls(around.unsettled);
  }

  /** Nothing is under way, and it may be closed. */
  get isIdle(): boolean {
    return this.#queue.length === 0 && this.#unsettled === 0 && !this.#working;
  }

  /** Of its last record. */
  get seq(): number {
    return this.#seq;
  }

  /** Serves the call at once where it can. Throws SvcError. */
  submit(call: EntityCall): void {
    const waiting = this.#queue.length + this.#held.length;
    if (waiting >= this.#around.limits.callsPerEntityMax)
      throw new SvcError(
        'SVC_OVERLOADED',
        `${waiting} calls wait for ${entityName(this.ref)}. ` +
          'Try again later, or spread the work over more entities.',
      );
    this.#queue.push(call);
    if (!this.#working) this.#work();
  }

  /** Lets go of the guest. Only while it is idle. */
  close(): void {
    assert(this.isIdle);
    const guest = this.#guest;
    this.#guest = undefined;
    if (guest !== undefined) this.#snapshots.close(guest, this.#seq, () => this.#close(guest));
  }

  /** Serves the queue as far as it goes without waiting, some of it at a time. */
  #work(): void {
    this.#working = true;
    let sinceMs: number | undefined;
    // It failed after the last call had come back, and before this.
    if (this.#lostAppend !== undefined) this.#drop();
    while (this.#queue.length > 0 || this.#snapshots.isDue) {
      if (this.#guest?.lost === true) {
        this.#drop();
        continue;
      }
      if (this.#guest === undefined) {
        if (this.#unsettled > 0) break; // I4: the last one to settle comes back here.
        void this.#replay();
        return;
      }
      const step = this.#snapshots.isDue ? this.#snapshot(this.#guest) : this.#next(this.#guest);
      if (step !== undefined) {
        this.#around.busy(this);
        void step.then(() => this.#work());
        return;
      }
      if (this.#queue.length === 0) continue;
      sinceMs ??= this.usedMs;
      if (this.#around.clock.nowMs() - sinceMs < SLICE_MS) continue;
      this.#around.busy(this);
      void this.#around.turn.next().then(() => this.#work());
      return;
    }
    this.#working = false;
    if (this.#queue.length > 0 || this.#unsettled > 0) return;
    if (this.#guest === undefined) this.#around.gone(this);
    else this.#around.idle(this);
  }

  async #replay(): Promise<void> {
    this.#around.busy(this);
    try {
      const { breaker } = this.#around;
      const replayed = await replay(this.#around, this.ref, breaker.hasFaulted(this.ref));
      if (replayed.kind === 'folded') {
        breaker.folded(this.ref);
        this.#guest = replayed.guest;
        this.#seq = replayed.seq;
        this.#snapshots.opened(replayed.growth);
      } else this.#failedToFold(replayed.fault, breaker.faulted(this.ref, replayed.fault));
    } catch (failure) {
      this.#failedToFold(failure, undefined);
    }
    this.#work();
  }

  #failedToFold(failure: unknown, heldBack: SvcError | undefined): void {
    this.#around.faultLog(this.ref, undefined, failure);
    if (heldBack !== undefined) this.#around.faultLog(this.ref, undefined, heldBack);
    const calls = this.#queue;
    this.#queue = [];
    for (const call of calls) call.fail(failure);
  }

  #snapshot(guest: GuestEntity): Step {
    return this.#snapshots.take(guest, this.#seq, (isTaken) => {
      if (this.#lostAppend !== undefined || !isTaken) this.#drop();
      else this.#snapshots.awaitAppends(this.#unsettled);
    });
  }

  #next(guest: GuestEntity): Step {
    const call = this.#queue.shift();
    assert(call !== undefined);
    if (call.kind === 'query') return this.#query(guest, call);
    const { idempotency } = call;
    return idempotency === undefined
      ? this.#command(guest, call)
      : this.#keyedCommand(guest, call, idempotency);
  }

  /** Answers what the key was answered before, and else does the command. */
  #keyedCommand(guest: GuestEntity, call: EntityCall, command: CommandKey): Step {
    this.usedMs = this.#around.clock.nowMs();
    // One whose answer is not on disk yet: this one leaves behind it, or fails with it.
    const foreseen = this.#held.foreseen(command.key);
    if (foreseen !== undefined) return this.#answered(call, repeatedOutcome(command, foreseen));
    let kept: Awaitable<StoredReply | undefined>;
    try {
      kept = this.#around.journal.answer(this.ref, command.key);
    } catch (failure) {
      call.fail(failure);
      return undefined;
    }
    if (!(kept instanceof Promise)) return this.#lookedUp(guest, call, command, kept);
    return kept.then(
      (later) => {
        if (this.#lostAppend !== undefined) return this.#discard(call, this.#lostAppend);
        if (!guest.lost) return this.#lookedUp(guest, call, command, later);
        this.#queue.unshift(call);
        return undefined;
      },
      (failure: unknown) => call.fail(failure),
    );
  }

  #lookedUp(
    guest: GuestEntity,
    call: EntityCall,
    command: CommandKey,
    kept: StoredReply | undefined,
  ): Step {
    const { clock, limits } = this.#around;
    return kept === undefined || isForgotten(kept, clock.nowMs(), limits.idempotencyRetentionMs)
      ? this.#command(guest, call)
      : this.#answered(call, repeatedOutcome(command, kept));
  }

  #query(guest: GuestEntity, call: EntityCall): Step {
    if (this.#held.mustWait(call) && this.#isTurnedDown(call)) return undefined;
    let answer: Awaitable<Outcome>;
    try {
      answer = guest.query(this.#context(call), call.name, call.input);
    } catch (fault) {
      return this.#faulted(call, fault);
    }
    if (!(answer instanceof Promise)) return this.#answered(call, answer);
    return answer.then(
      (outcome) => this.#answered(call, outcome),
      (fault: unknown) => this.#faulted(call, fault),
    );
  }

  /** Fails the call where too much waits for the disk. */
  #isTurnedDown(call: EntityCall): boolean {
    const { limits, unsettled, clock } = this.#around;
    if (unsettled.total >= limits.unsettledBytesMax) {
      this.usedMs = clock.nowMs();
      call.fail(diskTooSlow(unsettled.total));
      return true;
    }
    return false;
  }

  #answered(call: EntityCall, outcome: Outcome): undefined {
    if (this.#lostAppend !== undefined) return this.#discard(call, this.#lostAppend);
    const fault = outcomeFault(outcome, this.#around.limits);
    if (fault === undefined) this.#held.hold(call, outcome);
    else this.#refuse(call, fault);
  }

  #command(guest: GuestEntity, call: EntityCall): Step {
    if (this.#isTurnedDown(call)) return undefined;
    const context = this.#context(call);
    let decision: Awaitable<Effect | Refusal>;
    try {
      decision = guest.command(context, call.name, call.input);
    } catch (fault) {
      return this.#faulted(call, fault);
    }
    if (!(decision instanceof Promise)) return this.#decided(guest, call, context, decision);
    return decision.then(
      (later) => this.#decided(guest, call, context, later),
      (fault: unknown) => this.#faulted(call, fault),
    );
  }

  #decided(
    guest: GuestEntity,
    call: EntityCall,
    context: CallContext,
    decided: Effect | Refusal,
  ): Step {
    const decision = storable(decided, this.#around.limits);
    const isRefusal = decision.kind === 'refusal';
    if (isRefusal && call.idempotency === undefined) return this.#answered(call, decision);
    if (this.#lostAppend !== undefined) return this.#discard(call, this.#lostAppend);
    const { limits, fullJournal } = this.#around;
    const fault = isRefusal
      ? outcomeFault(decision, limits)
      : effectFault(decision, this.#eventManifest, limits);
    if (fault !== undefined) return this.#refuse(call, fault);
    const full = fullJournal.refusalOf(call, decision);
    if (full !== undefined) {
      call.fail(full);
      return undefined;
    }
    if (isRefusal) return this.#append(call, decision, [], context.nowMs, 0);
    let reply: Awaitable<Reply>;
    try {
      reply = applyEffect(guest, decision, context, call.name, limits);
    } catch (applyFault) {
      return this.#faulted(call, applyFault);
    }
    if (!(reply instanceof Promise)) return this.#applied(call, context, decision, reply);
    return reply.then(
      (later) => this.#applied(call, context, decision, later),
      (applyFault: unknown) => this.#faulted(call, applyFault),
    );
  }

  #applied(call: EntityCall, context: CallContext, effect: Effect, reply: Reply): undefined {
    if (this.#lostAppend !== undefined) return this.#discard(call, this.#lostAppend);
    const records = recordsOf(effect, context, call, this.#seq);
    if (records.length === 0 && call.idempotency === undefined) {
      this.#held.hold(call, reply);
      return;
    }
    const bytes = appendBytes(effect.events, effect.actions.length);
    this.#append(call, reply, records, context.nowMs, bytes);
    // The next life begins like any other, from what the journal says.
    if (deletesEntity(effect)) this.#drop();
  }

  /** Stores what came of a command, and holds its answer until that is on disk. */
  #append(
    call: EntityCall,
    outcome: Outcome,
    records: readonly JournalRecord[],
    nowMs: number,
    bytes: number,
  ): undefined {
    const { unsettled, journal, limits } = this.#around;
    this.#seq += records.length;
    this.#snapshots.grew(records.length, bytes);
    this.#unsettled++;
    call.heldForOwnAppend = true;
    call.eventsPersisted = records.length;
    this.#held.hold(call, outcome);
    this.#around.busy(this);
    unsettled.queued(bytes + answerBytes(call, outcome));
    const answer = answerToKeep(call, outcome, nowMs, limits.idempotencyRetentionMs);
    journal.append(this.ref, records, this.#settled, answer);
  }

  #appendSettled(failure: SvcError | undefined): void {
    this.#unsettled--;
    const bytes = this.#around.unsettled.settled();
    if (failure === undefined) {
      this.#snapshots.settled();
      this.#held.release();
    } else {
      this.#around.fullJournal.failed(bytes, failure);
      this.#appendFailed(failure);
    }
    if (!this.#working) this.#work();
  }

  /** The appends behind it fail as well, and find nothing left to do. */
  #appendFailed(failure: SvcError): void {
    const dependent = this.#held.takeAll();
    for (const call of dependent)
      if (call.kind === 'command') call.fail(failure);
      else this.#again.push(call);
    if (this.#working) this.#lostAppend = failure;
    else this.#drop();
  }

  /** The guest's call came back after the state it was made on was lost. */
  #discard(call: EntityCall, failure: SvcError): undefined {
    if (call.kind === 'query') this.#queue.unshift(call);
    else call.fail(failure);
    this.#drop();
  }

  /** The guest broke down, or its state is not to be trusted any more. */
  #faulted(call: EntityCall, fault: unknown): undefined {
    this.#drop();
    this.#refuse(call, fault);
  }

  /** Fails a call whose answer breaks a rule; the state, which it did not change, stays. */
  #refuse(call: EntityCall, fault: unknown): undefined {
    this.#around.faultLog(this.ref, call.name, fault);
    call.fail(fault);
  }

  #drop(): void {
    const guest = this.#guest;
    this.#guest = undefined;
    this.#lostAppend = undefined;
    this.#queue.unshift(...this.#again.splice(0));
    this.#snapshots.dropped();
    if (guest !== undefined) this.#close(guest);
  }

  #close(guest: GuestEntity): void {
    try {
      guest.close();
    } catch (fault) {
      this.#around.faultLog(this.ref, undefined, fault);
    }
  }

  #context(call: EntityCall): CallContext {
    const { clock, random } = this.#around;
    this.usedMs = clock.nowMs();
    return call.context(this.usedMs, random);
  }
}
