// Decorators of a guest's entity pass on every argument, also those that the interface does not have yet.
import { expect, test } from 'vitest';
import { PurityCheck } from '../../../../host/engine/entity/purity-check.ts';
import { RefoldCheck } from '../../../../host/engine/entity/refold-check.ts';
import { FoldBudget } from '../../../../host/engine/entity/fold-budget.ts';
import { incarnationOf } from '../../../../host/engine/entity/incarnation.ts';
import type { GuestEntities, GuestEntity } from '../../../../model/guest.ts';
import type { ModuleDescriptor } from '@svc/contract';

const REF = { component: 'counter', id: 'a' };
/** Arguments of each method. The compiler demands a method that is new. */
const ARGS: Readonly<Record<Exclude<keyof GuestEntity, 'lost'>, readonly unknown[]>> = {
  apply: [[], undefined],
  command: [{}, 'add', '1'],
  query: [{}, 'total', 'null'],
  reply: [{}, 'add'],
  snapshot: [],
  close: [],
};

type Call = readonly [string, readonly unknown[]];

/** An entity that notes each call with all arguments. */
function noting(calls: Call[]): GuestEntity {
  const note =
    (name: string) =>
    (...args: readonly unknown[]) => {
      calls.push([name, args]);
      return name === 'snapshot' ? '{}' : undefined;
    };
  const methods = Object.keys(ARGS).map((name) => [name, note(name)]);
  return { lost: false, ...Object.fromEntries(methods) };
}

const descriptor = { entities: [], types: {} } as unknown as ModuleDescriptor;
const refoldCheck = (entities: GuestEntities): GuestEntities =>
  new RefoldCheck({
    entities,
    descriptor,
    incarnation: (entity) => incarnationOf(entity, []),
    foldBudget: new FoldBudget({ monotonicMs: () => 0 }, { yield: () => Promise.resolve() }),
    limits: { replayTimeoutMs: 1, purityRefoldInterval: 1, purityRefoldEventsMax: 1 },
    faultLog: () => {},
  });

test.each([
  ['the purity check of a call', (it: GuestEntities) => new PurityCheck(it, descriptor, 1)],
  ['a call that it leaves out', (it: GuestEntities) => new PurityCheck(it, descriptor, 1_000)],
  ['the refold check', refoldCheck],
])('%s passes on every argument, an additional one too', async (_, decorated) => {
  for (const [name, args] of Object.entries(ARGS)) {
    const calls: Call[] = [];
    const entity = await decorated({ open: () => noting(calls) }).open(REF, undefined);
    const given = [...args, 'additional'];
    const method = (entity as unknown as Record<string, (...all: unknown[]) => unknown>)[name]!;
    await method.apply(entity, given);
    expect(calls.find(([called]) => called === name)).toEqual([name, given]);
  }
});
