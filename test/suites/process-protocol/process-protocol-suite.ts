// What the SDK of every language has to keep: the transcripts of this folder, played as a runtime to a program of the SDK, over gRPC on loopback.
//
// The program is given SVC_PROCESS_PORT, serves the tally of test/process-sdk/typescript/support/tally.ts, and prints `listening at ADDRESS`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from './frame-text.ts';
import { PlayedStream } from './played-stream.ts';
import {
  isExpected,
  type Names,
  sentValue,
  type Step,
  type Transcript,
  transcriptOf,
} from './transcript.ts';

const FOLDER = join(import.meta.dirname, 'transcripts');

/** A program that serves the tally. */
export interface ServedProgram {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** Whether the program still runs. */
  isRunning(): boolean;
  end(): Promise<void>;
}

/** All transcripts. */
export function transcripts(): readonly Transcript[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map((file) => transcriptOf(readFileSync(join(FOLDER, file), 'utf8')));
}

/** `sdk`: its name. `start`: starts the program of the SDK. */
export function processProtocolSuite(sdk: string, start: () => Promise<ServedProgram>): void {
  describe(`the SDK for ${sdk}`, () => {
    let program: ServedProgram | undefined;
    beforeAll(async () => {
      program = await start();
    });
    afterAll(() => program?.end());
    test.each(transcripts())('$name', async ({ steps }) => {
      await play(program!.address, steps);
      expect(program!.isRunning()).toBe(true);
    });
  });
}

/** Plays the steps, and checks after them that nothing else was sent on any stream. */
async function play(address: string, steps: readonly Step[]): Promise<void> {
  const streams = new Map<string, PlayedStream>();
  const names: Names = new Map();
  const streamOf = (name: string): PlayedStream => {
    let stream = streams.get(name);
    if (stream === undefined) streams.set(name, (stream = new PlayedStream(address)));
    return stream;
  };
  let current = streamOf('1');
  try {
    for (const step of steps) {
      if (step.kind === 'do' && step.words[0] === 'stream') current = streamOf(step.words[1]!);
      else
        // oxlint-disable-next-line no-await-in-loop -- in their order
        await played(current, step, names).catch((error: unknown) => {
          throw new Error(`line ${step.line}: ${String(error)}`, { cause: error });
        });
    }
    await Promise.all([...streams.values()].map((stream) => stream.close()));
  } finally {
    for (const stream of streams.values()) stream.abort();
  }
}

async function played(stream: PlayedStream, step: Step, names: Names): Promise<void> {
  if (step.kind === 'send')
    stream.send(step.frames.map((frame) => sentValue(frame, names, stream.routes) as JsonObject));
  else if (step.kind === 'expect') await expected(stream, step.frames, names);
  else await done(stream, step.words);
}

async function done(stream: PlayedStream, words: readonly string[]): Promise<void> {
  switch (words[0]) {
    case 'greet':
      return greet(stream);
    case 'late':
      return stream.ignoreAnswer(Number(words[3]));
    case 'whatever':
      return stream.over();
    case 'quiet':
      return stream.quiet();
    case 'credit':
      return stream.credit();
    case 'ended':
      return stream.ended();
    case 'bytes':
      return stream.sendBytes(Buffer.from(words[1] ?? '', 'hex'));
    case undefined:
    default:
      throw new Error(`'${words.join(' ')}' is no step`);
  }
}

async function greet(stream: PlayedStream): Promise<void> {
  const window = { bytes: 4_194_304, calls: 100, frameBytes: 67_108_864 };
  stream.send([{ hello: { versions: [1], service: 'tallies', shards: 1, window, pingMs: 3_000 } }]);
  await stream.next((frame) => frame.welcome !== undefined, false);
}

async function expected(
  stream: PlayedStream,
  frames: readonly JsonObject[],
  names: Names,
): Promise<void> {
  const left = [...frames];
  const take = (frame: JsonObject): boolean => {
    const index = left.findIndex((one) => {
      const own = new Map(names);
      if (!isExpected(frame, one, own)) return false;
      for (const [name, value] of own) names.set(name, value);
      return true;
    });
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  };
  // oxlint-disable-next-line no-await-in-loop -- frames come one after the other
  while (left.length > 0) await stream.next(take, left[0]!.log !== undefined);
}
