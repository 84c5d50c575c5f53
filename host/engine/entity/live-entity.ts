// LiveEntity owns one entity in memory: its guest state, and the order in which calls reach it, are decided, appended and
// answered. It decides nothing of its own and knows no other entity. The calls themselves are EntityCalls'.
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
import { EntityCalls } from './entity-calls.ts';
import { effectFault, outcomeFault, storable } from './guest-answer.ts';
import { EntitySnapshots } from './entity-snapshots.ts';
import { answerToKeep, isForgotten, repeatedOutcome } from './idempotency.ts';
import type { Idler } from './idle-list.ts';
import { recordsOf } from './recorded-effect.ts';
import { replay } from './replay.ts';
import type { EntityDependencies } from './entity-dependencies.ts';
import { answerBytes, appendBytes, diskTooSlow } from './unsettled-bytes.ts';

/** A guest's call under way; undefined when it came back at once. */
type Step = Promise<void> | undefined;

/** Calls that have waited are served for this long before the entity yields to the event loop. */
const SLICE_MS = 10;

export class LiveEntity implements Idler {
  readonly ref: EntityRef;
  idleBefore: Idler | undefined = undefined;
  idleAfter: Idler | undefined = undefined;
  /** Time of its last call. */
  usedMs = 0;
  readonly #needs: EntityDependencies<LiveEntity>;
  readonly #eventManifest: string;
  #guest: GuestEntity | undefined = undefined;
  /** Sequence number of the last record that was decided, on disk or not. */
  #seq = 0;
  readonly #calls: EntityCalls;
  /** Appends under way. */
  #unsettled = 0;
  /** True while a replay or a guest's call is under way. */
  #working = false;
  /** An append failed while a guest's call was under way: the outcome of that call is void. */
  #lostAppend: SvcError | undefined = undefined;
  readonly #snapshots: EntitySnapshots;
  readonly #settled = (failure?: SvcError): void => this.#appendSettled(failure);

  constructor(ref: EntityRef, eventManifest: string, needs: EntityDependencies<LiveEntity>) {
    this.ref = ref;
    this.#eventManifest = eventManifest;
    this.#needs = needs;
    this.#snapshots = new EntitySnapshots(needs.snapshots, ref);
    this.#calls = new EntityCalls(ref, needs.unsettled, needs.limits);
  }

  /** Nothing is under way, and it may be closed. */
  get isIdle(): boolean {
    return !this.#calls.isQueued && this.#unsettled === 0 && !this.#working;
  }

  /** Sequence number of its last record. */
  get seq(): number {
    return this.#seq;
  }

  /** Serves the call at once where it can. Throws SvcError. */
  submit(call: EntityCall): void {
    this.#calls.enter(call);
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
    // The append failed after the last call had come back, and before this.
    if (this.#lostAppend !== undefined) this.#drop();
    while (this.#calls.isQueued || this.#snapshots.isDue) {
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
        this.#needs.busy(this);
        void step.then(() => this.#work());
        return;
      }
      if (!this.#calls.isQueued) continue;
      sinceMs ??= this.usedMs;
      if (this.#needs.clock.nowMs() - sinceMs < SLICE_MS) continue;
      this.#needs.busy(this);
      void this.#needs.eventLoop.yield().then(() => this.#work());
      return;
    }
    this.#working = false;
    if (this.#calls.isQueued || this.#unsettled > 0) return;
    if (this.#guest === undefined) this.#needs.gone(this);
    else this.#needs.idle(this);
  }

  async #replay(): Promise<void> {
    this.#needs.busy(this);
    try {
      const { breaker } = this.#needs;
      const replayed = await replay(this.#needs, this.ref, breaker.hasFaulted(this.ref));
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

  #failedToFold(failure: unknown, backedOff: SvcError | undefined): void {
    this.#needs.faultLog(this.ref, undefined, failure);
    if (backedOff !== undefined) this.#needs.faultLog(this.ref, undefined, backedOff);
    this.#calls.failQueued(failure);
  }

  #snapshot(guest: GuestEntity): Step {
    return this.#snapshots.take(guest, this.#seq, (isTaken) => {
      if (this.#lostAppend !== undefined || !isTaken) this.#drop();
      else this.#snapshots.awaitAppends(this.#unsettled);
    });
  }

  #next(guest: GuestEntity): Step {
    const call = this.#calls.next();
    if (call.kind === 'query') return this.#query(guest, call);
    const { idempotency } = call;
    return idempotency === undefined
      ? this.#command(guest, call)
      : this.#keyedCommand(guest, call, idempotency);
  }

  /** Repeats the stored reply of the key, or else runs the command. */
  #keyedCommand(guest: GuestEntity, call: EntityCall, command: CommandKey): Step {
    this.usedMs = this.#needs.clock.nowMs();
    // The reply of the command with this key may not be on disk yet: this call is answered after it, or fails with it.
    const speculative = this.#calls.speculative(command.key);
    if (speculative !== undefined)
      return this.#answered(call, repeatedOutcome(command, speculative));
    let kept: Awaitable<StoredReply | undefined>;
    try {
      kept = this.#needs.journal.answer(this.ref, command.key);
    } catch (failure) {
      call.fail(failure);
      return undefined;
    }
    if (!(kept instanceof Promise)) return this.#lookedUp(guest, call, command, kept);
    return kept.then(
      (later) => {
        if (this.#lostAppend !== undefined) return this.#discard(call, this.#lostAppend);
        if (!guest.lost) return this.#lookedUp(guest, call, command, later);
        this.#calls.putBack(call);
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
    const { clock, limits } = this.#needs;
    return kept === undefined || isForgotten(kept, clock.nowMs(), limits.idempotencyRetentionMs)
      ? this.#command(guest, call)
      : this.#answered(call, repeatedOutcome(command, kept));
  }

  #query(guest: GuestEntity, call: EntityCall): Step {
    if (this.#calls.mustWait(call) && this.#isTurnedDown(call)) return undefined;
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
    const { limits, unsettled, clock } = this.#needs;
    if (unsettled.total >= limits.unsettledBytesMax) {
      this.usedMs = clock.nowMs();
      call.fail(diskTooSlow(unsettled.total));
      return true;
    }
    return false;
  }

  #answered(call: EntityCall, outcome: Outcome): undefined {
    if (this.#lostAppend !== undefined) return this.#discard(call, this.#lostAppend);
    const fault = outcomeFault(outcome, this.#needs.limits);
    if (fault === undefined) this.#calls.hold(call, outcome);
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
    const decision = storable(decided, this.#needs.limits);
    const isRefusal = decision.kind === 'refusal';
    if (isRefusal && call.idempotency === undefined) return this.#answered(call, decision);
    if (this.#lostAppend !== undefined) return this.#discard(call, this.#lostAppend);
    const { limits, fullJournal } = this.#needs;
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
      this.#calls.hold(call, reply);
      return;
    }
    const bytes = appendBytes(effect.events, effect.actions.length);
    this.#append(call, reply, records, context.nowMs, bytes);
    // The next incarnation begins like any other, from what the journal says.
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
    const { unsettled, journal, limits } = this.#needs;
    this.#seq += records.length;
    this.#snapshots.grew(records.length, bytes);
    this.#unsettled++;
    call.heldForOwnAppend = true;
    call.eventsPersisted = records.length;
    this.#calls.hold(call, outcome);
    this.#needs.busy(this);
    unsettled.queued(bytes + answerBytes(call, outcome));
    const answer = answerToKeep(call, outcome, nowMs, limits.idempotencyRetentionMs);
    journal.append(this.ref, records, this.#settled, answer);
  }

  #appendSettled(failure: SvcError | undefined): void {
    this.#unsettled--;
    const bytes = this.#needs.unsettled.settled();
    if (failure === undefined) {
      this.#snapshots.settled();
      this.#calls.release();
    } else {
      this.#needs.fullJournal.failed(bytes, failure);
      this.#appendFailed(failure);
    }
    if (!this.#working) this.#work();
  }

  /** The appends behind it fail as well, and find nothing left to do. */
  #appendFailed(failure: SvcError): void {
    this.#calls.loseHeld(failure);
    if (this.#working) this.#lostAppend = failure;
    else this.#drop();
  }

  /** Discards what a guest's call came back with after the state it was made on was lost. */
  #discard(call: EntityCall, failure: SvcError): undefined {
    if (call.kind === 'query') this.#calls.putBack(call);
    else call.fail(failure);
    this.#drop();
  }

  /** Drops the state after a fault of the guest: it cannot be trusted any more. */
  #faulted(call: EntityCall, fault: unknown): undefined {
    this.#drop();
    this.#refuse(call, fault);
  }

  /** Fails a call whose answer breaks a rule; the state, which it did not change, stays. */
  #refuse(call: EntityCall, fault: unknown): undefined {
    this.#needs.faultLog(this.ref, call.name, fault);
    call.fail(fault);
  }

  #drop(): void {
    const guest = this.#guest;
    this.#guest = undefined;
    this.#lostAppend = undefined;
    this.#calls.queueLost();
    this.#snapshots.dropped();
    if (guest !== undefined) this.#close(guest);
  }

  #close(guest: GuestEntity): void {
    try {
      guest.close();
    } catch (fault) {
      this.#needs.faultLog(this.ref, undefined, fault);
    }
  }

  #context(call: EntityCall): CallContext {
    const { clock, random } = this.#needs;
    this.usedMs = clock.nowMs();
    return call.context(this.usedMs, random);
  }
}
