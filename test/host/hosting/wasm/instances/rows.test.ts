// The import `journal.find`: what a handler asks for, and the page, the refusal or the failure that it is given.
import { SvcError } from '@svc/kit/svc-error';
import { describe, expect, test } from 'vitest';
import type { HostCalls } from '../../../../../model/guest.ts';
import { refusal } from '../../../../../model/call.ts';
import { CONTEXT, faultOf, hostCalls, liveGuest, request } from '../support/live-guest.ts';
import { StaticMemory } from '../support/static-memory.ts';

const version = '0.2.0';
const RESULT = 256;
/** Answers the bytes of the module's memory from address 1 on. */
const SHOW_MEMORY = `(drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 200))
  (i32.store8 (i32.const 32) (i32.const 3)) (i32.store (i32.const 36) (i32.const 1))
  (i32.store (i32.const 40) (i32.const 131071)) (i32.const 16)`;

interface Asking {
  readonly limit?: number;
  readonly hasCursor?: number;
  readonly result?: number;
}

function asking({ limit = 50, hasCursor = 1, result = RESULT }: Asking) {
  const memory = new StaticMemory();
  const texts = memory.record(32, [
    [0, 'orders'],
    [8, 'of-customer'],
    [16, '{"customer":"ä"}'],
    [24, 'the-cursor'],
  ]);
  const word = (at: number) => `(i32.load (i32.const ${texts + at * 4}))`;
  const call = `(call $find ${[0, 1, 2, 3, 4, 5].map(word).join(' ')} (i32.const ${limit})
    (i32.const ${hasCursor}) ${word(6)} ${word(7)} (i32.const ${result}))`;
  return { version, fields: memory.data, handle: `${call} ${SHOW_MEMORY}` } as const;
}

async function found(find: HostCalls['find'], ask: Asking = {}) {
  const { endpoints } = await liveGuest(asking(ask));
  const answer = await endpoints.handle(CONTEXT, request(0), hostCalls({ find }));
  if (answer.kind !== 'response' || answer.body.kind !== 'bytes') throw new Error('no memory');
  const bytes = Buffer.concat([Buffer.alloc(1), answer.body.bytes]);
  const text = (at: number) => {
    const start = bytes.readUInt32LE(at);
    return bytes.toString('utf8', start, start + bytes.readUInt32LE(at + 4));
  };
  return { bytes, text, u32: (at: number) => bytes.readUInt32LE(at) };
}

const PAGE = { rows: ['{"a":1}', '{"b":"é"}'], cursor: 'next', asOfMs: 1_700_000_000_001 };

test.each([
  ['at once', () => PAGE],
  ['later', async () => PAGE],
])('a handler asks for rows and is given a page %s', async (_when, answer) => {
  const asked: unknown[] = [];
  const { bytes, text, u32 } = await found((...of) => {
    asked.push(of);
    return answer();
  });
  expect(asked).toEqual([['orders', 'of-customer', '{"customer":"ä"}', 50, 'the-cursor']]);
  expect([bytes[RESULT], u32(RESULT + 12), bytes[RESULT + 16], bytes[RESULT + 32]]).toEqual([
    0, 2, 1, 1,
  ]);
  const rows = u32(RESULT + 8);
  expect([text(rows), text(rows + 8)]).toEqual(PAGE.rows);
  expect(text(RESULT + 20)).toBe('next');
  expect(bytes.readBigUInt64LE(RESULT + 40)).toBe(BigInt(PAGE.asOfMs));
});

test('the last page has no cursor, and a current one no time', async () => {
  const asked: unknown[] = [];
  const { bytes, u32 } = await found(
    (...of) => {
      asked.push(of.at(-1));
      return { rows: [], cursor: undefined, asOfMs: undefined };
    },
    { hasCursor: 0 },
  );
  expect(asked).toEqual([undefined]);
  expect([bytes[RESULT], u32(RESULT + 12), bytes[RESULT + 16], bytes[RESULT + 32]]).toEqual([
    0, 0, 0, 0,
  ]);
});

test('a refusal reaches the handler, with its code and message', async () => {
  const { bytes, text } = await found(() => refusal('BAD_REQUEST', 'no such cursor'));
  expect([bytes[RESULT], bytes[RESULT + 8], bytes[RESULT + 12]]).toEqual([1, 0, 0]);
  expect(text(RESULT + 24)).toBe('no such cursor');
});

test.each([0, 1001, -1])('the limit %s is refused, and nobody is asked', async (limit) => {
  const { bytes, text } = await found(
    () => {
      throw new Error('asked');
    },
    { limit },
  );
  expect([bytes[RESULT], bytes[RESULT + 8], bytes[RESULT + 12]]).toEqual([1, 0, 0]);
  expect(text(RESULT + 24)).toBe('the limit must be 1 to 1000');
});

test('a module without views must not ask', async () => {
  const fault = await faultOf(() => found(undefined));
  expect(fault).toMatchObject({
    faultCause: 'value',
    message: expect.stringMatching(/^The module queries the view '.+', and registers no view\.$/),
  });
});

test('a view or a query that the module has not is a fault of the module', async () => {
  const unknown = refusal('NOT_FOUND', "the service has no view 'orders'");
  for (const find of [() => unknown, async () => unknown])
    expect(await faultOf(() => found(find))).toMatchObject({
      faultCause: 'value',
      message: "The module queries what it does not have: the service has no view 'orders'.",
    });
});

test.each([
  ['SVC_OVERLOADED', 2, 'too much is waiting'],
  ['SVC_JOURNAL_CORRUPT', 4, 'the runtime failed with SVC_JOURNAL_CORRUPT'],
] as const)('a failure reaches the handler: %s', async (code, kind, words) => {
  const fail = () => {
    throw new SvcError(code, 'with a path of the host');
  };
  for (const find of [fail, async () => fail()]) {
    const { bytes, text } = await found(find);
    expect([bytes[RESULT], bytes[RESULT + 8]]).toEqual([1, kind]);
    expect(text(RESULT + 12)).toBe(words);
  }
});

test('the handler pays for the rows that it is given', async () => {
  const { endpoints } = await liveGuest(asking({}), { handlerFuel: 300_000 });
  const rows = ['x'.repeat(400_000)];
  const find = async () => ({ rows, cursor: undefined, asOfMs: undefined });
  const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), hostCalls({ find })));
  expect([fault.faultCause, fault.limit]).toEqual(['fuel', 'handler-fuel']);
});

describe('a handler that cannot wait', () => {
  test('is run once if the rows are there', async () => {
    const { endpoints } = await liveGuest(asking({}));
    const asked: unknown[] = [];
    const findAtOnce = (...query: unknown[]) => (asked.push(query), PAGE);
    const answer = endpoints.handle(
      CONTEXT,
      request(0),
      hostCalls({
        speculate: () => undefined,
        find: () => expect.fail('the handler waits'),
        findAtOnce,
      }),
    );
    expect(answer).not.toBeInstanceOf(Promise);
    expect(asked).toEqual([['orders', 'of-customer', '{"customer":"ä"}', 50, 'the-cursor']]);
  });

  test('is run again where it can if it has to wait for them', async () => {
    const { endpoints } = await liveGuest(asking({}));
    const done: string[] = [];
    const calls = hostCalls({
      speculate: () => undefined,
      findAtOnce: () => void done.push('at once'),
      beginReplay: () => (done.push('again'), false),
      find: async () => (done.push('find'), PAGE),
    });
    expect(await endpoints.handle(CONTEXT, request(0), calls)).toMatchObject({ status: 200 });
    expect(done).toEqual(['at once', 'again', 'find']);
  });

  test('is given the same page where it can', async () => {
    const bodies = await Promise.all(
      [() => PAGE, () => undefined].map(async (findAtOnce) => {
        const { endpoints } = await liveGuest(asking({}));
        const given = { speculate: () => undefined, find: async () => PAGE, findAtOnce };
        const answer = await endpoints.handle(CONTEXT, request(0), hostCalls(given));
        return answer.kind === 'response' && answer.body;
      }),
    );
    expect(bodies[0]).toEqual(bodies[1]);
  });

  test('must not ask if its module has no views', async () => {
    const { endpoints } = await liveGuest(asking({}));
    const calls = hostCalls({ speculate: () => undefined });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), calls));
    expect(fault.message).toContain('registers no view');
  });
});

test.each<[string, Asking]>([
  ['an option of a cursor that is neither there nor not', { hasCursor: 2 }],
  ['an unaligned result', { result: 260 }],
  ['a result outside the memory', { result: 131_072 }],
])('%s is a fault', async (_what, ask) => {
  const { endpoints } = await liveGuest(asking(ask));
  const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), hostCalls()));
  expect(fault.faultCause).toBe('value');
});
