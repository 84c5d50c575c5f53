// CoordinatorModel: routers and an orchestrator that knows at any time who has acknowledged what, and judges every effect of a
// coordinator by that.
import assert from 'node:assert/strict';
import { type CoordinatorEffect, RouteCoordinator } from '../../routing/route-coordinator.ts';
import { routedService } from './routed-services.ts';

export const ACKNOWLEDGE_MS = 100;
export const LEAVE_MS = 50;

interface Wait {
  readonly of: 'hold' | 'table';
  readonly number: number;
  readonly startedMs: number;
}

interface ModelRouter {
  connection: number | undefined;
  absentSinceMs: number;
  applied: number;
  readonly held: Set<number>;
}

export class CoordinatorModel {
  readonly coordinator = new RouteCoordinator({
    acknowledgeMs: ACKNOWLEDGE_MS,
    leaveMs: LEAVE_MS,
  });
  readonly routers = new Map<string, ModelRouter>();
  readonly waits = new Map<number, Wait>();
  readonly holds = new Set<number>();
  nowMs = 0;
  version = 0;
  connections = 0;

  join(name: string): void {
    const former = this.routers.get(name);
    const connection = ++this.connections;
    this.routers.set(name, {
      connection,
      absentSinceMs: 0,
      applied: former?.applied ?? -1,
      held: former?.held ?? new Set(),
    });
    const effects = this.coordinator.join(name, connection);
    const cut = former?.connection === undefined ? [] : [former.connection];
    assert.deepEqual(
      effects.filter(({ kind }) => kind === 'cut'),
      cut.map((one) => ({ kind: 'cut', connection: one })),
    );
    const snapshot = effects.at(-1);
    assert(snapshot?.kind === 'send' && snapshot.to === connection);
    assert(snapshot.message.type === 'snapshot');
    assert.equal(snapshot.message.table.version, this.version);
    assert.deepEqual(
      snapshot.message.holds.map(({ id }) => id),
      [...this.holds],
    );
  }

  leave(name: string): void {
    const router = this.routers.get(name);
    if (router?.connection === undefined) return;
    this.coordinator.leave(router.connection, this.nowMs);
    router.connection = undefined;
    router.absentSinceMs = this.nowMs;
  }

  publish(): void {
    const started = this.coordinator.publish([routedService(`shop/s${this.version}`)], this.nowMs);
    this.#start(started.wait, { of: 'table', number: ++this.version, startedMs: this.nowMs });
    this.judge(started.effects);
  }

  hold(): void {
    const { hold, wait, effects } = this.coordinator.hold('shop/cart', this.nowMs);
    this.holds.add(hold);
    this.#start(wait, { of: 'hold', number: hold, startedMs: this.nowMs });
    this.judge(effects);
  }

  acknowledge(name: string, isHold: boolean): void {
    const router = this.routers.get(name);
    if (router?.connection === undefined) return;
    const hold = [...this.holds].find((one) => !router.held.has(one));
    if (!isHold) {
      router.applied = this.version;
      this.judge(this.coordinator.applied(router.connection, this.version));
    } else if (hold !== undefined) {
      router.held.add(hold);
      this.judge(this.coordinator.held(router.connection, hold));
    }
  }

  release(): void {
    const [hold] = this.holds;
    if (hold === undefined) return;
    this.holds.delete(hold);
    this.judge(this.coordinator.release(hold), hold);
  }

  pass(ms: number): void {
    this.nowMs += ms;
    const effects = this.coordinator.advance(this.nowMs);
    for (const { kind, ...effect } of effects)
      if (kind === 'settled')
        for (const name of (effect as { missing: readonly string[] }).missing)
          this.routers.delete(name);
    for (const [name, { connection, absentSinceMs }] of this.routers)
      if (connection === undefined && absentSinceMs + ACKNOWLEDGE_MS <= this.nowMs)
        this.routers.delete(name);
    this.judge(effects);
    // Nothing is left to wait for longer than the limit.
    for (const wait of this.waits.values())
      assert(!this.#isOver(wait), 'a wait has outlived its limit');
  }

  /** `released`: a hold that has just ended. */
  judge(effects: readonly CoordinatorEffect[], released?: number): void {
    for (const effect of effects) {
      if (effect.kind !== 'settled') continue;
      const wait = this.waits.get(effect.wait)!;
      this.waits.delete(effect.wait);
      const isDue = this.#isOver(wait) || wait.number === released;
      const lacking = this.#lacking(wait);
      if (!isDue)
        assert.deepEqual({ lacking, missing: effect.missing }, { lacking: [], missing: [] });
    }
    // Everything that can be settled is.
    for (const wait of this.waits.values()) assert.notDeepEqual(this.#lacking(wait), []);
    assert.equal(this.coordinator.routers, this.routers.size);
  }

  #start(id: number, wait: Wait): void {
    this.waits.set(id, wait);
  }

  #isOver({ of, startedMs }: Wait): boolean {
    return this.nowMs - startedMs >= ACKNOWLEDGE_MS + (of === 'table' ? LEAVE_MS : 0);
  }

  #lacking({ of, number }: Wait): readonly string[] {
    return [...this.routers]
      .filter(([, { held, applied }]) => (of === 'hold' ? !held.has(number) : applied < number))
      .map(([name]) => name);
  }
}
