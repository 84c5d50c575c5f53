// EntityHistory: the state of an entity at any point of its history, and the effect that a command would have there.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { EntityHistory, type HistoryStep } from '../../../host/history/entity-history.ts';
import type { HistoryPoint } from '../../../host/history/incarnation-at.ts';
import {
  type AdmittedModule,
  admitModule,
} from '../../../host/hosting/wasm/admission/admission.ts';
import type { EntityRef } from '../../../model/entity.ts';
import { inspectJournal } from '../../../host/storage/journal-reading.ts';
import { append } from '../../suites/journal-suite.ts';
import { CART, CART_TIME_MS, cartEvent, fillCart } from '../../support/cart-journal.ts';
import { wasmSource } from '../../../host/hosting/guest-source.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { withJournal } from '../../support/with-journal.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

const data = temporaryFolderOfFile();
let cart: AdmittedModule;
let impure: AdmittedModule;
beforeAll(async () => {
  cart = admitModule(await compileFixture('shopping-cart'));
  impure = admitModule(await compileFixture('impure'));
  await fillCart(data);
});

async function historyOf(
  dir = data,
  module = cart,
  entity: EntityRef = CART,
): Promise<EntityHistory> {
  const inspection = inspectJournal(journalIn(dir));
  const history = await EntityHistory.open({
    inspection,
    source: wasmSource(module),
    settings: { wasm: WASM_LIMITS_DEFAULT },
    entity,
  });
  onTestFinished(() => {
    history.close();
    inspection.close();
  });
  return history;
}

const END: HistoryPoint = { kind: 'end' };
const at = (seq: number): HistoryPoint => ({ kind: 'seq', seq });
const atTime = (seconds: number): HistoryPoint => {
  return { kind: 'time', timeMs: CART_TIME_MS + seconds * 1000 };
};
const items = (sku: string, quantity: number) => [{ sku, quantity }];

async function stepsOf(history: EntityHistory, point: HistoryPoint) {
  const steps: HistoryStep[] = [];
  for await (const step of history.steps(point)) steps.push(step);
  return steps;
}

async function seqs(point: HistoryPoint): Promise<readonly number[]> {
  return (await stepsOf(await historyOf(), point)).map(({ record }) => record.seq);
}

function call(name: string, input: unknown = null) {
  return { name, input: JSON.stringify(input), nowMs: 1, seed: 1n, metadata: [] };
}

function damage(dir: string, sql: string): void {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(sql);
  database.close();
}

describe('a state', () => {
  test.each([
    ['before the first record', at(0), 0, [], false],
    ['after a record', at(2), 2, items('apple', 3), false],
    ['of a life that has ended', at(1), 1, items('apple', 1), false],
    ['after a deletion', at(4), 4, [], false],
    ['in a later life', at(5), 5, items('pear', 5), false],
    ['at the end', END, 6, items('pear', 5), true],
    ['before the first time', atTime(-1), 0, [], false],
    ['at the time of a record', atTime(10), 2, items('apple', 3), false],
    ['at a time, before the first record that is later', atTime(12), 2, items('apple', 3), false],
    // Record 5 has a time before 10 seconds, but follows a record with a later one.
    [
      'at a time, whatever comes after it with an earlier one',
      atTime(5),
      1,
      items('apple', 1),
      false,
    ],
    [
      'at a time after a deletion, however the clock was set',
      atTime(20),
      5,
      items('pear', 5),
      false,
    ],
    ['at a time after the last', atTime(1000), 6, items('pear', 5), true],
  ] as const)('%s', async (_what, point, seq, expected, checkedOut) => {
    const past = await (await historyOf()).stateAt(point);
    expect(past.seq).toBe(seq);
    expect(past.isDeleted).toBe(seq === 4);
    expect(JSON.parse(past.state)).toEqual({ items: expected, checkedOut });
  });

  test('of a long history is the one that all its events make', async () => {
    const dir = temporaryFolder();
    const added = { type: 'item-added', sku: 'apple', quantity: 1 };
    const records = Array.from({ length: 1500 }, (_, index) => cartEvent(index + 1, index, added));
    await fillCart(dir, records);
    const history = await historyOf(dir);
    expect(JSON.parse((await history.stateAt(END)).state)).toMatchObject({
      items: items('apple', 1500),
    });
    expect(JSON.parse((await history.stateAt(at(1001))).state)).toMatchObject({
      items: items('apple', 1001),
    });
  });
});

describe('steps', () => {
  test('are the records of the life, each with what it changed', async () => {
    const steps = await stepsOf(await historyOf(), at(3));
    expect(steps.map(({ record, changes }) => [record.seq, changes])).toEqual([
      [1, [{ path: 'items[0]', before: undefined, after: '{"sku":"apple","quantity":1}' }]],
      [2, [{ path: 'items[0].quantity', before: '1', after: '3' }]],
      [3, []],
    ]);
  });

  test('of a life that has ended have its deletion last; the next life begins anew', async () => {
    expect(await seqs(at(4))).toEqual([1, 2, 3, 4]);
    expect(await seqs(END)).toEqual([5, 6]);
    expect(await seqs(at(0))).toEqual([]);
  });
});

describe('a command', () => {
  test('shows its effect on the state of that point, again and again', async () => {
    const history = await historyOf();
    for (const quantity of [7, 7]) {
      const { outcome } = await history.whatIf(at(2), call('add-item', { sku: 'pear', quantity }));
      expect(outcome).toMatchObject({
        kind: 'effect',
        events: [{ manifest: 'cart-event', json: expect.stringContaining('"pear"') }],
        deletesEntity: false,
        reply: expect.stringContaining('"pear"'),
        changes: [{ path: 'items[1]', before: undefined, after: '{"sku":"pear","quantity":7}' }],
      });
    }
    expect((await history.whatIf(at(2), call('remove'))).outcome).toMatchObject({
      deletesEntity: true,
    });
    expect((await history.stateAt(END)).seq).toBe(6);
  });

  test('is refused where the state then was such', async () => {
    const item = { sku: 'pear', quantity: 1 };
    const { outcome } = await (await historyOf()).whatIf(END, call('add-item', item));
    expect(outcome).toMatchObject({ kind: 'refusal', code: 'CONFLICT' });
    expect((await (await historyOf()).whatIf(at(5), call('add-item', item))).outcome).toMatchObject(
      {
        kind: 'effect',
      },
    );
  });

  test('that faults, or changes its state in place, says so, and the log with it', async () => {
    const dir = temporaryFolder();
    const shelf = { component: 'shelf', id: 's1' };
    await withJournal(dir, async (journal) => {
      const json = '{"type":"shelved","title":"Emma","copies":1}';
      const event = { manifest: 'shelf-event', json };
      await append(journal, shelf, { kind: 'event', seq: 1, timeMs: 1, event });
    });
    const history = await historyOf(dir, impure, shelf);
    expect(await history.whatIf(END, call('boom'))).toMatchObject({
      outcome: { kind: 'fault', message: expect.stringContaining('abort: no shelf') },
      log: [{ level: 'warn', message: 'about to break' }],
    });
    const book = { title: 'Emma', copies: 1 };
    expect((await history.whatIf(END, call('put-in-place', book))).outcome).toMatchObject({
      kind: 'fault',
      message: expect.stringMatching(/changed the state .*\[SVC_STATE_CHANGED\]$/),
    });
    expect((await history.whatIf(END, call('poison'))).outcome).toMatchObject({
      kind: 'fault',
      message: expect.stringContaining('poisoned'),
    });
    expect(JSON.parse((await history.stateAt(END)).state)).toMatchObject({ books: [book] });
  });

  test('that there is not is named, with the one that was meant', async () => {
    await expect((await historyOf()).whatIf(END, call('chek-out'))).rejects.toMatchObject({
      code: 'SVC_NOT_IN_MODULE',
      message: expect.stringContaining("Did you mean 'check-out'?"),
    });
  });
});

describe('what cannot be shown is named:', () => {
  test('an entity, a record and a component that there are not', async () => {
    await expect(
      (await historyOf(data, cart, { ...CART, id: 'c2' })).stateAt(END),
    ).rejects.toMatchObject({
      code: 'SVC_NOT_IN_JOURNAL',
    });
    await expect((await historyOf()).stateAt(at(7))).rejects.toMatchObject({
      code: 'SVC_NOT_IN_JOURNAL',
      message: expect.stringContaining('its last is 6'),
    });
    await expect(historyOf(data, impure)).rejects.toThrow(
      expect.objectContaining({ code: 'SVC_NOT_IN_MODULE' }),
    );
  });

  test('an event that the module cannot read, and one at which it faults', async () => {
    const dir = temporaryFolder();
    await fillCart(dir, [
      cartEvent(1, 0, { type: 'item-added', sku: 'apple', quantity: 1 }),
      cartEvent(2, 0, { type: 'item-thrown' }),
    ]);
    const history = await historyOf(dir);
    const unreadable = {
      code: 'SVC_EVENT_UNREADABLE',
      message: expect.stringContaining("event 2 of entity 'c1'"),
    };
    await expect(history.stateAt(END)).rejects.toMatchObject(unreadable);
    await expect(stepsOf(history, END)).rejects.toMatchObject(unreadable);
    expect(JSON.parse((await history.stateAt(at(1))).state)).toMatchObject({
      items: items('apple', 1),
    });
    const shelf = { component: 'shelf', id: 's1' };
    await withJournal(dir, async (journal) => {
      const event = { manifest: 'shelf-event', json: '{"type":"poison"}' };
      await append(journal, shelf, { kind: 'event', seq: 1, timeMs: 1, event });
    });
    const faulted = {
      code: 'SVC_FOLD_FAULTED',
      message: expect.stringMatching(/event 1 of entity 's1' .*abort: poisoned/),
    };
    await expect((await historyOf(dir, impure, shelf)).stateAt(END)).rejects.toMatchObject(faulted);
    await expect(stepsOf(await historyOf(dir, impure, shelf), END)).rejects.toMatchObject(faulted);
  });

  test('a damaged record, from which on the life is not shown', async () => {
    const dir = temporaryFolder();
    await fillCart(dir);
    damage(dir, `UPDATE journal SET json = '{}' WHERE seq = 5`);
    const history = await historyOf(dir);
    const named = {
      code: 'SVC_JOURNAL_CORRUPT',
      message: expect.stringMatching(/^Record 5 of entity 'c1' .* is damaged/),
    };
    await expect(history.stateAt(END)).rejects.toMatchObject(named);
    await expect(history.stateAt(at(5))).rejects.toMatchObject(named);
    expect((await history.stateAt(at(2))).seq).toBe(2);
  });

  test('a damaged record of a life that has ended is of no matter for the next', async () => {
    const dir = temporaryFolder();
    await fillCart(dir);
    damage(dir, `UPDATE journal SET json = '{}' WHERE seq = 2`);
    const history = await historyOf(dir);
    expect(JSON.parse((await history.stateAt(END)).state)).toMatchObject({
      items: items('pear', 5),
    });
    await expect(history.stateAt(at(3))).rejects.toThrow(/^Record 2 of /);
    await expect(stepsOf(history, at(4))).rejects.toThrow(/^Record 2 of /);
  });
});
