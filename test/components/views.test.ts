// Views and consumers of TypeScript programs: what is refused when they are defined, faults of their functions, and that a
// row means the same whatever the batches.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { defineConsumer, type ConsumerContext } from '../../components/consumer-definition.ts';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEntity } from '../../components/entity-definition.ts';
import { defineView, type FoldContext } from '../../components/view-definition.ts';
import type { EntityEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { SvcError } from '../../kit/svc-error.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';

const Event = Type.Object({ type: Type.Literal('noted'), at: Type.String() });
const note = defineEntity({
  component: 'note',
  state: { manifest: 'note', schema: Type.Null() },
  event: { manifest: 'note-event', schema: Event },
  empty: () => null,
  apply: (state) => state,
  commands: {},
});
const Row = Type.Object({
  at: Type.String({ format: 'date-time' }),
  seen: Type.Array(Type.String()),
  notes: Type.Integer({ default: 0 }),
});
type Row = Type.Static<typeof Row>;

const noted = (at: string, seq = 1): EntityEvent => ({
  entity: { component: 'note', id: 'n1' },
  seq,
  timeMs: 5,
  event: { manifest: 'note-event', json: JSON.stringify({ type: 'noted', at }) },
});

type Fold = (row: Row | undefined, event: { at: string }, context: FoldContext<Row>) => unknown;

/** A guest whose view folds by the function. */
const viewsOf = (fold: Fold, keys?: () => unknown) => {
  const source = { entity: note, fold: fold as never, ...(keys && { keys: keys as never }) };
  const view = defineView({ id: 'notes', version: '1', row: Row, from: [source] });
  return createEmbeddedGuest({ entities: [note], views: [view] }).views!;
};
const row = (at: string, seen: readonly string[] = []) => JSON.stringify({ at, seen, notes: 0 });
const T = '2026-01-01T00:00:00.000Z';

describe('a view is refused when it is defined', () => {
  const fold = (_row: unknown, _event: unknown, { keep }: FoldContext<Row>) => keep();
  const from = [{ entity: note, fold }] as const;
  const valid = { id: 'notes', version: '1', row: Row, from };
  test.each<[string, object, string]>([
    ['without a version', { version: undefined }, "view 'notes': it has no version"],
    ['with an empty version', { version: '' }, "view 'notes': it has no version"],
    ['without sources', { from: [] }, "view 'notes': it has no entity in 'from'"],
    [
      'with a source that is no entity',
      { from: [{ entity: { component: 'note' }, fold }] },
      "view 'notes', from[0]: its entity was not made by defineEntity",
    ],
    [
      'with a source that is there twice',
      { from: [from[0], from[0]] },
      "view 'notes', from[1]: the component 'note' is listed before",
    ],
    [
      'with a row that has no form',
      { row: Type.Object({ a: Type.Any() }) },
      "view 'notes', row.a: Any has no form in a descriptor",
    ],
    [
      'with parameters that have no form',
      { queries: { all: { where: '', parameters: Type.Object({ a: Type.Any() }) } } },
      "view 'notes', parameters of 'all'.a: Any has no form in a descriptor",
    ],
    [
      'with a query that would make its client a promise',
      // oxlint-disable-next-line unicorn/no-thenable -- it is what is tried
      { queries: { then: { where: '' } } },
      "view 'notes': 'then' is taken",
    ],
  ])('%s', (_what, other, problem) => {
    expect(() => defineView({ ...valid, ...other } as never)).toThrow(
      expect.objectContaining({
        code: 'SVC_DEFINITION_INVALID',
        message: expect.stringContaining(problem),
      }),
    );
  });

  test('with an entity that the service does not have', () => {
    const view = defineView(valid);
    const other = { ...note };
    expect(() => createEmbeddedGuest({ entities: [other], views: [view] })).toThrow(
      "view 'notes': the entity 'note' is none of this service's entities. Add it to the entities.",
    );
  });
});

describe('the rows of a view', () => {
  test('are between two events what they would be if they were stored', async () => {
    const seen: unknown[] = [];
    const views = viewsOf((before, { at }, { put }) => {
      seen.push(before);
      const { notes: _default, ...rest } = { ...before, notes: 1 };
      return put({ ...rest, at, seen: [], more: 1 } as never);
    });
    const events = ['2026-01-01T02:00:00+02:00', T].map((at) => ({ event: noted(at), rows: [0] }));
    await views.fold('notes', [{ key: 'n1', json: undefined }], events);
    expect(seen).toEqual([undefined, { at: T, seen: [], notes: 0 }]);
  });

  test('are not changed by what is done to them, or to what was put, beside the change', async () => {
    const held = { at: T, seen: [] as string[], notes: 0 };
    const views = viewsOf((before, { at }, { put, keep }) => {
      if (before === undefined) return put(held);
      before.seen.push(at);
      held.seen.push(at);
      return keep();
    });
    const events = [noted('a'), noted('b'), noted('c')].map((event) => ({ event, rows: [0] }));
    expect(await views.fold('notes', [{ key: 'n1', json: undefined }], events)).toEqual([
      { key: 'n1', json: row(T) },
    ]);
  });

  test('know their key and the event', async () => {
    const seen: unknown[] = [];
    const views = viewsOf((_row, _event, { put: _put, remove: _remove, keep, ...context }) => {
      seen.push(context);
      return keep();
    });
    const rows = [{ key: 'k', json: undefined }];
    expect(await views.fold('notes', rows, [{ event: noted('a', 7), rows: [0] }])).toEqual([]);
    expect(seen).toEqual([{ entityId: 'n1', seq: 7, timeMs: 5, key: 'k' }]);
  });

  const WHERE = "the fold of view 'notes' at event 7 of entity 'n1' of component 'note'";
  test.each<[string, Fold, string]>([
    [
      'an error',
      () => {
        throw new Error('no way');
      },
      'no way',
    ],
    [
      'a row that does not fit',
      (_row, _event, { put }) => put({ at: 'x' } as never),
      'at: must be',
    ],
    ['no change', () => undefined, 'return put(row), remove() or keep()'],
    ['a change of its own making', () => ({ kind: 'keep' }), 'return put(row), remove() or keep()'],
    ['a promise', async (_row, _event, { keep }) => keep(), 'here nothing is async'],
  ])('are a fault with %s, and the next batch is folded', async (_what, faulty, problem) => {
    let isFaulty = true;
    const views = viewsOf((before, event, given) =>
      isFaulty ? faulty(before, event, given) : given.keep(),
    );
    const rows = [{ key: 'n1', json: undefined }];
    const fold = async () => views.fold('notes', rows, [{ event: noted('a', 7), rows: [0] }]);
    const fault: unknown = await fold().catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(GuestFault);
    const { message, guestMessage = '' } = fault as GuestFault;
    expect(message).toContain(WHERE);
    expect(`${message} ${guestMessage}`).toContain(problem);
    isFaulty = false;
    expect(await fold()).toEqual([]);
  });

  test.each<[string, () => unknown]>([
    ['a text', () => 'n1'],
    ['a list of others', () => [1]],
    ['a promise', async () => ['n1']],
  ])('are a fault with %s as keys', async (_what, keys) => {
    const views = viewsOf((_row, _event, { keep }) => keep(), keys);
    await expect((async () => views.keys('notes', [noted('a', 7)]))()).rejects.toThrow(
      "the keys of view 'notes' at event 7 of entity 'n1' of component 'note'",
    );
  });

  test('are no longer folded after the guest was closed', async () => {
    const view = defineView({
      id: 'notes',
      version: '1',
      row: Row,
      from: [{ entity: note, fold: (_row, _event, { keep }) => keep() }],
    });
    const guest = createEmbeddedGuest({ entities: [note], views: [view] });
    await guest.close();
    expect(() => guest.views!.fold('notes', [], [])).toThrow('The service was stopped.');
  });
});

describe('a consumer', () => {
  type Handle = (event: { at: string }, context: ConsumerContext) => unknown;
  const consumersOf = (handle: Handle) => {
    const on = [{ entity: note, handle: handle as never }];
    const consumer = defineConsumer({ id: 'notes', start: 'now', on });
    return createEmbeddedGuest({ entities: [note], consumers: [consumer] }).consumers!;
  };
  const calls = {
    nowMs: () => 5,
    call: () => ({ kind: 'reply', json: 'null' }) as const,
    readEvents: () => [],
    ...WITHOUT_TIMERS,
  };
  const context = { nowMs: 5, seed: 7n, metadata: [['traceparent', 't']] } as const;
  const handled = async (handle: Handle, event = noted('a', 7)) =>
    consumersOf(handle).handle(context, 'notes', event, calls);

  test('is refused without its start, without sources, and with a source that is there twice', () => {
    const source = { entity: note, handle: (_event: unknown, { done }: ConsumerContext) => done() };
    for (const [other, problem] of [
      [{ start: undefined }, "consumer 'notes': it does not say where it starts"],
      [{ start: 'today' }, "consumer 'notes': it does not say where it starts"],
      [{ on: [] }, "consumer 'notes': it has no entity in 'on'. Write on: [{ entity: order, … }]."],
      [{ on: [source, source] }, "consumer 'notes', on[1]: the component 'note' is listed before"],
    ] as const)
      expect(() =>
        defineConsumer({ id: 'notes', start: 'now', on: [source], ...other } as never),
      ).toThrow(problem);
  });

  test('has the event, its time and random numbers, which are the same at each attempt', async () => {
    const seen: unknown[] = [];
    const handle: Handle = (
      _event,
      { done, random, nowMs, seed, entityId, seq, timeMs, metadata },
    ) => {
      seen.push([entityId, seq, timeMs, nowMs, seed, random(), metadata('traceparent')]);
      return done();
    };
    await handled(handle);
    await handled(handle);
    expect(seen[0]).toEqual(['n1', 7, 5, 5, 7n, expect.any(Number), 't']);
    expect(seen[1]).toEqual(seen[0]);
  });

  test('has events handled again without a pause of its own, and later after a fraction', async () => {
    expect(await handled((_event, { retry }) => retry('busy'))).toEqual({
      kind: 'retry',
      reason: 'busy',
      afterMs: undefined,
    });
    expect(await handled((_event, { retry }) => retry('busy', 0.5))).toMatchObject({ afterMs: 1 });
    expect(await handled((_event, { retry }) => retry('busy', -5))).toMatchObject({ afterMs: 0 });
  });

  test.each<[string, Handle, string]>([
    ['an error', () => Promise.reject(new Error('no way')), 'no way'],
    ['no verdict', () => undefined, 'return done(), retry(reason), skip(reason)'],
    ['a verdict of its own making', () => ({ kind: 'done' }), 'return done(), retry(reason)'],
    ['a reason that is no text', (_event, { skip }) => skip(1 as never), 'a text, found number'],
    [
      'a pause that is no number',
      (_event, { retry }) => retry('', Number.NaN),
      'afterMs is a number',
    ],
  ])('faults with %s', async (_what, handle, problem) => {
    const fault: unknown = await handled(handle).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(GuestFault);
    const { message, guestMessage = '' } = fault as GuestFault;
    expect(message).toContain("consumer 'notes' at event 7 of entity 'n1' of component 'note'");
    expect(guestMessage).toContain(problem);
  });

  test('passes the failure of a call on', async () => {
    const failure = new SvcError('SVC_DISK_FULL', 'full');
    await expect(handled(() => Promise.reject(failure))).rejects.toBe(failure);
  });

  test('is failed when the guest is closed while it handles an event', async () => {
    const on = [{ entity: note, handle: () => new Promise<never>(() => {}) }];
    const consumer = defineConsumer({ id: 'notes', start: 'now', on });
    const guest = createEmbeddedGuest({ entities: [note], consumers: [consumer] });
    const verdict = guest.consumers!.handle(context, 'notes', noted('a'), calls);
    await guest.close();
    await expect(verdict).rejects.toThrow('The service was stopped.');
    await expect(guest.consumers!.handle(context, 'notes', noted('a'), calls)).rejects.toThrow(
      'The service was stopped.',
    );
  });
});
