// The hosting in a process passes the suites of all hostings, with components in Python, which read the journal of those in TypeScript.
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createEngine } from '../../../host/engine/entity-engine.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { systemDigest, systemEventLoop } from '../../../host/system.ts';
import type { Guest } from '../../../model/guest.ts';
import { cartGuest } from '../../components/support/cart.ts';
import { hostingConsumerSuite } from '../../suites/hosting-consumer-suite.ts';
import { context, hostingSuite, opened } from '../../suites/hosting-suite.ts';
import { hostingTimerSuite } from '../../suites/hosting-timer-suite.ts';
import { hostingViewSuite } from '../../suites/hosting-view-suite.ts';
import { python, startPython } from '../../support/python.ts';
import { connectionTo, guestAt } from '../typescript/support/served-guest.ts';

/** One process of a program serves all tests of this file: each has a guest of its own. */
function servedOnce(program: string): () => Promise<Guest> {
  let started: ReturnType<typeof startPython> | undefined;
  afterAll(async () => void (await started)?.program.child.kill('SIGKILL'));
  return async () => {
    started ??= startPython(join(import.meta.dirname, 'support', program));
    return guestAt(connectionTo((await started).address));
  };
}

const engineOf = (guest: Guest, journal: MemoryJournal) =>
  createEngine({
    guest,
    journal,
    clock: { nowMs: () => context.nowMs, monotonicMs: () => 1 },
    random: { next64: () => 1n },
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: (_entity, _handler, fault) => {
      throw fault;
    },
  });

describe.skipIf(python === undefined)('components in Python', () => {
  const openCart = servedOnce('cart_program.py');
  const openOrders = servedOnce('orders_program.py');
  hostingSuite('process', openCart);
  hostingTimerSuite('process', openOrders);
  hostingViewSuite('process', openOrders);
  hostingConsumerSuite('process', openOrders);

  test('are described as those in TypeScript', async () => {
    const { entities, types } = (await opened(openCart)).descriptor;
    const inTypeScript = cartGuest().descriptor;
    expect(entities).toEqual(inTypeScript.entities);
    expect(types).toEqual(inTypeScript.types);
  });

  test('continue with the events of those in TypeScript, and the other way round', async () => {
    const journal = new MemoryJournal();
    const ref = { component: 'shopping-cart', id: 'c1' };
    const inPython = await opened(openCart);
    for (const [index, guest] of [cartGuest(), inPython, cartGuest(), inPython].entries()) {
      const engine = engineOf(guest, journal);
      const input = JSON.stringify({ sku: 'ä 漢 🎉', quantity: index + 1 });
      await engine.call(ref, 'add-item', input, []);
      await engine.close();
    }
    const items = [{ sku: 'ä 漢 🎉', quantity: 10 }];
    for (const guest of [cartGuest(), inPython]) {
      const answer = await engineOf(guest, journal).call(ref, 'get', 'null', []);
      expect(answer.kind === 'reply' && answer.json).toBe(
        JSON.stringify({ id: 'c1', items, checkedOut: false }),
      );
    }
  });

  test('take the snapshots of those in TypeScript', async () => {
    const ref = { component: 'shopping-cart', id: 'c1' };
    const written = await Promise.resolve(cartGuest().entities.open(ref, undefined));
    const json = '{"type":"item-added","sku":"a","quantity":2}';
    await Promise.resolve(written.apply([{ manifest: 'cart-event', json }], undefined));
    const snapshot = await Promise.resolve(written.snapshot());
    const inPython = await opened(openCart);
    expect(await (await inPython.entities.open(ref, snapshot)).snapshot()).toBe(snapshot);
  });
});
