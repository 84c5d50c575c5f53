// A version of the protocol that shipped goes on being understood: version-1-session.txt has the bytes of a session, and today's runtime and today's SDK make of them
// what was made then. SVC_TEST_RECORD=1 records the session, which is done once for each version.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { serveProcess } from '../../process-sdk/typescript/index.ts';
import { components } from '../process-sdk/typescript/support/tally.ts';
import { connectionTo, guestAt } from '../process-sdk/typescript/support/served-guest.ts';
import type { JsonObject } from '../suites/process-protocol/frame-text.ts';
import {
  framesOf,
  isControl,
  playSession,
  RAW_METHOD,
  rawServer,
  recordingOf,
  recordingProxy,
  recordingText,
  type RecordedMessage,
} from './support/recorded-session.ts';

const FILE = join(import.meta.dirname, 'version-1-session.txt');

async function served(): Promise<string> {
  const process = await serveProcess({ ...components, port: 0 });
  onTestFinished(() => process.close());
  return process.address;
}

async function record(): Promise<void> {
  const process = await serveProcess({ ...components, port: 0 });
  const messages: RecordedMessage[] = [];
  const proxy = await recordingProxy(process.address, (message) => messages.push(message));
  const guest = await guestAt(connectionTo(proxy.address));
  const outcomes = await playSession(guest);
  await guest.close();
  proxy.close();
  await process.close();
  writeFileSync(FILE, recordingText({ messages, outcomes }));
}

/** Messages of one side that follow one another, and those of the other side that answer them. */
function turnsOf(messages: readonly RecordedMessage[], stream: number) {
  const turns: { readonly sent: Buffer[]; readonly answers: Buffer[] }[] = [];
  for (const message of messages) {
    if (message.stream !== stream) continue;
    if (message.isToProcess && turns.at(-1)?.answers.length !== 0)
      turns.push({ sent: [], answers: [] });
    const turn = turns.at(-1);
    (message.isToProcess ? turn?.sent : turn?.answers)?.push(message.bytes);
  }
  return turns;
}

/** Whether the process answers the frame. */
const isAnswered = ({ call, hello, result, cancel }: JsonObject): boolean =>
  hello !== undefined || result !== undefined || (call !== undefined && cancel === undefined);

if (process.env.SVC_TEST_RECORD === '1') await record();

test('the runtime makes of the bytes of a process of version 1 what it made of them then', async () => {
  const { messages, outcomes } = recordingOf(readFileSync(FILE, 'utf8'));
  const server = await rawServer((duplex, stream) => {
    const turns = turnsOf(messages, stream);
    duplex.on('error', () => {});
    duplex.on('data', (bytes: Buffer) => {
      for (const frame of framesOf(true, bytes))
        if (isAnswered(frame)) for (const answer of turns.shift()!.answers) duplex.write(answer);
    });
  });
  onTestFinished(() => server.close());
  const guest = await guestAt(connectionTo(server.address));
  onTestFinished(() => guest.close());
  expect(await playSession(guest)).toEqual(outcomes);
  expect(outcomes.length).toBeGreaterThan(20);
});

/** A frame without what differs from one run of a process, or one version of an SDK, to the next. */
function comparable(frame: JsonObject): JsonObject {
  const { welcome, fault, problem } = frame as Readonly<Record<string, JsonObject | undefined>>;
  if (problem !== undefined) return { ...frame, problem: {} };
  if (welcome !== undefined)
    return { welcome: { ...welcome, sdk: '', instance: '', descriptor: '', window: {} } };
  return fault === undefined ? frame : { ...frame, fault: { ...fault, stack: '' } };
}

test('the SDK answers the bytes of a runtime of version 1 as it answered them then', async () => {
  const { messages } = recordingOf(readFileSync(FILE, 'utf8'));
  const client = new Client(await served(), credentials.createInsecure());
  onTestFinished(() => client.close());
  const { path, requestSerialize, responseDeserialize } = RAW_METHOD;
  for (const stream of new Set(messages.map((message) => message.stream))) {
    const duplex = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const received: JsonObject[] = [];
    duplex.on('error', () => {});
    duplex.on('data', (bytes: Buffer) => {
      const frames = framesOf(false, bytes);
      if (!isControl(frames)) received.push(...frames);
    });
    for (const { sent, answers } of turnsOf(messages, stream)) {
      for (const bytes of sent) duplex.write(bytes);
      const expected = answers.flatMap((bytes) => framesOf(false, bytes));
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      await expect.poll(() => received.length).toBeGreaterThanOrEqual(expected.length);
      expect(received.splice(0).map(comparable)).toEqual(expected.map(comparable));
    }
    duplex.cancel();
  }
});
