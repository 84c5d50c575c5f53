// Random values of every type: the module's output for an input has the same meaning and order in JavaScript's JSON.
// It runs in the runtime's own sandbox, because texts cross the boundary there.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guest, GuestEntity } from '../../model/guest.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { jsonOf, sampleValue } from './support/sample-values.ts';

/** fast-check prints this text when the property does not hold. */
const SEED = 20_261;
const BATCHES = 100;
const BATCH_SIZE = 100;

let guest: Guest;
let entity: GuestEntity;

beforeAll(async () => {
  guest = await createWasmGuest(await compileFixture('codec'));
  entity = await guest.entities.open({ component: 'codec', id: 'one' }, undefined);
});

afterAll(async () => {
  await guest.close();
});

async function through(query: string, input: string): Promise<string> {
  const context = { nowMs: 0, seed: 1n, metadata: [] };
  const outcome = await entity.query(context, query, input);
  return outcome.kind === 'reply' ? outcome.json : `refused: ${outcome.message}`;
}

test('ten thousand values of every type come back as they were', async () => {
  let values = 0;
  const batches = fc.array(sampleValue, { minLength: BATCH_SIZE, maxLength: BATCH_SIZE });
  const property = fc.asyncProperty(batches, async (batch) => {
    values += batch.length;
    const text = jsonOf(batch);
    if ((await through('samples', text)) === text) return;
    // Only the wrong value is reported, since a batch is too long for a message.
    for (const one of batch.map((value) => jsonOf([value])))
      expect(await through('samples', one)).toBe(one);
    expect.fail('a batch does not come back, though each of its values does');
  });
  await fc.assert(property, {
    seed: SEED,
    numRuns: BATCHES,
    endOnFailure: true,
    reporter(run) {
      if (run.failed) throw new Error(`seed ${run.seed}: ${String(run.errorInstance)}`);
    },
  });
  expect(values).toBe(BATCHES * BATCH_SIZE);
});

describe('text byte for byte', () => {
  const sample = {
    sku: 'a',
    quantity: 1,
  };

  test.each([
    [
      'strings',
      JSON.stringify(['', '\u0000', '\u2028\u2029', '\ufeff\uffff', '\u007f', '😀', '/']),
    ],
    ['strings', JSON.stringify(['x'.repeat(300_000)])],
    ['strings', '[]'],
    ['doubles', '[]'],
    ['doubles', '[0,-0,5e-324,2.2250738585072014e-308,1.7976931348623157e+308]'],
    ['doubles', '[9007199254740991,9007199254740992,9007199254740994,1e+21,100000000000000000000]'],
    ['map', '{}'],
    ['map', jsonOf({ zebra: sample, ant: sample, Bee: sample })],
    ['map', `{"__proto__":${jsonOf(sample)},"constructor":${jsonOf(sample)},"":${jsonOf(sample)}}`],
    // The order is that of the text; JavaScript would sort the keys.
    ['map', `{"10":${jsonOf(sample)},"9":${jsonOf(sample)},"-1":${jsonOf(sample)}}`],
    [
      'palette',
      '{"main":"Red","others":{},"pair":{"first":"Blue","second":-1},"fallback":"Green","many":["C1"]}',
    ],
    ['bytes', '""'],
  ])('%s $#', async (query, text) => {
    expect(await through(query, text)).toBe(text);
  });
});
