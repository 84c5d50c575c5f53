// What of a command's input is compared when its idempotency key comes again.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { createService, defineEntity } from '@svc/host';

const Noted = Type.Object({ text: Type.String(), by: Type.String() });

const note = defineEntity({
  component: 'note',
  state: { manifest: 'note', schema: Type.Array(Noted) },
  event: {
    manifest: 'note-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('noted'), ...Noted.properties })]),
  },
  empty: () => [],
  apply: (notes, { text, by }) => [...notes, { text, by }],
  comparedInput: (input) => {
    const { text, by } = input as { text: string; by: string };
    if (by === 'nobody') throw new Error('nobody compares');
    return { text };
  },
  commands: {
    add: {
      input: Noted,
      handle: (_, { text, by }, { persist }) => persist({ type: 'noted', text, by }).thenReply(),
    },
  },
  queries: { all: { reply: Type.Array(Noted), handle: (notes) => notes } },
});

async function given() {
  const service = await createService({
    name: 'notes',
    entities: [note],
    journal: 'memory',
    observability: { local: false },
    log: () => {},
  });
  onTestFinished(() => service.stop(0));
  return service.call(note, 'a');
}

test('what is left out may differ, and the first input stays', async () => {
  const notes = await given();
  const keyed = notes.withIdempotencyKey('k');
  expect(await keyed.add({ text: 'buy milk', by: 'Ann' })).toMatchObject({ isOk: true });
  expect(await keyed.add({ text: 'buy milk', by: 'Ann B.' })).toMatchObject({ isOk: true });
  expect(await notes.all()).toMatchObject({ value: [{ text: 'buy milk', by: 'Ann' }] });
});

test('another input is refused', async () => {
  const notes = (await given()).withIdempotencyKey('k');
  await notes.add({ text: 'buy milk', by: 'Ann' });
  expect(await notes.add({ text: 'buy eggs', by: 'Ann' })).toMatchObject({ code: 'UNPROCESSABLE' });
});

test('a function that throws is a fault of the program, and nothing is stored', async () => {
  const notes = await given();
  await expect(notes.withIdempotencyKey('k').add({ text: 'x', by: 'nobody' })).rejects.toThrow(
    /comparedInput of 'add' threw an error/,
  );
  expect(await notes.all()).toMatchObject({ value: [] });
});
