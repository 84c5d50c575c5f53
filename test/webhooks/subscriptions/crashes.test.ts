// A crash of the journal at each write of a day of a tenant: what was answered is there afterwards, and the request that was cut off is carried
// out once when it is repeated with its key.
import { expect, test } from 'vitest';
import type { Subscription } from '@svc/client';
import type { Result } from '@svc/host';
import { TestJournal, VirtualClock } from '@svc/host/testing';
import { SvcError } from '@svc/kit/svc-error';
import {
  type SubscriptionsUnderTest,
  accepted,
  callsOf,
  ownFolder,
  startSubscriptions,
} from './subscriptions-under-test.ts';

const url = 'https://receiver.example/hook';

type Step = (
  started: SubscriptionsUnderTest,
  known: Map<string, string>,
) => Promise<Result<Subscription | null>>;

/** The requests of the day, each with a key of its own. `known`: ids by the keys of creations. */
const DAY: readonly (readonly [key: string, step: Step])[] = [
  ['a', ({ call, flows }) => flows.create(callsOf(call, 'a'), 'acme', { url })],
  ['b', ({ call, flows }) => flows.create(callsOf(call, 'b'), 'acme', { url: `${url}b` })],
  [
    'c',
    ({ call, flows }, known) =>
      flows.patch(callsOf(call, 'c'), 'acme', known.get('a')!, { headers: { 'X-A': '1' } }),
  ],
  ['d', ({ call, flows }, known) => flows.rotate(callsOf(call, 'd'), 'acme', known.get('a')!, {})],
  ['e', ({ call, flows }, known) => flows.remove(callsOf(call, 'e'), 'acme', known.get('b')!)],
  ['f', ({ call, flows }) => flows.removeTenant(callsOf(call, 'f'), 'acme')],
  ['g', ({ call, flows }) => flows.create(callsOf(call, 'g'), 'acme', { url: `${url}g` })],
];

/** What the tenant has after so many requests: URL, headers, and number of the secret. */
const STATES: readonly (readonly (readonly [url: string, headers: string, rotation: number])[])[] =
  [
    [],
    [[url, '{}', 1]],
    [
      [url, '{}', 1],
      [`${url}b`, '{}', 1],
    ],
    [
      [url, '{"X-A":"1"}', 1],
      [`${url}b`, '{}', 1],
    ],
    [
      [url, '{"X-A":"1"}', 2],
      [`${url}b`, '{}', 1],
    ],
    [[url, '{"X-A":"1"}', 2]],
    [],
    [[`${url}g`, '{}', 1]],
  ];

async function stateOf({ subscriptions }: SubscriptionsUnderTest) {
  return (await subscriptions.all('acme')).map(
    ({ url: at, headers, rotation }) => [at, JSON.stringify(headers), rotation] as const,
  );
}

/** Carries out the requests from `done` on; returns how many are answered once one is cut off, or all are. */
async function run(
  started: SubscriptionsUnderTest,
  done: number,
  known: Map<string, string>,
): Promise<number> {
  for (let index = done; index < DAY.length; index++) {
    const [key, step] = DAY[index]!;
    try {
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      const answer = accepted(await step(started, known));
      if (answer !== null) known.set(key, answer.id);
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      expect(await stateOf(started)).toEqual(STATES[index + 1]);
    } catch (error) {
      if (error instanceof SvcError) return index;
      throw error;
    }
  }
  return DAY.length;
}

test.each([0, 1])(
  'a crash at each write, of which the last %i are on disk, loses nothing that was answered and does nothing twice',
  async (stored) => {
    let crashes = 0;
    for (let at = 1; ; at++) {
      const journal = new TestJournal({
        onWrite: ({ number }) => (number === at ? { crash: stored } : 'stored'),
      });
      const [folder, clock] = [await ownFolder(), new VirtualClock()];
      const known = new Map<string, string>();
      const before = await startSubscriptions({ journal, folder, clock }).catch(() => undefined);
      const done = before === undefined ? 0 : await run(before, 0, known);
      await before?.service.stop();
      if (done === DAY.length) break;
      crashes++;
      const after = await startSubscriptions({ journal, folder, clock });
      expect([STATES[done], STATES[done + 1]]).toContainEqual(await stateOf(after));
      expect(await run(after, done, known)).toBe(DAY.length);
      await after.service.stop();
    }
    expect(crashes).toBeGreaterThanOrEqual(DAY.length);
  },
);
