// FuzzedSdk: a program of an SDK that is sent mutated transcripts. It must neither end nor hang, nor serve the next runtime worse.
import assert from 'node:assert/strict';
import { Client, credentials } from '@grpc/grpc-js';
import {
  framesFromProcess,
  type JsonObject,
  messageToProcess,
} from '../../suites/process-protocol/frame-text.ts';
import { transcripts } from '../../suites/process-protocol/process-protocol-suite.ts';
import { sentValue, type Transcript } from '../../suites/process-protocol/transcript.ts';
import type { Random } from '../random.ts';
import { within } from '../within.ts';
import { mutatedMessages } from './frame-mutations.ts';

const PATH = '/svc.process.v1.Process/Open';
const SHARES = { frames: 150, bytes: 5 };
/** Time for a stream to end, or to answer a ping. */
const BOUND_S = 60;
const PROBE_EVERY = 50;
const LAST_PING = 4_000_000_001;
const CLIENT_OPTIONS = { 'grpc.max_receive_message_length': -1, 'grpc.enable_http_proxy': 0 };
/** Frames that are longer would take most of the time. */
const FRAME_LENGTH_MAX = 10_000;
/** Handlers of the tally. */
const ROUTES = 11;
/** Transcripts of a stream, and the most numbers that one of them uses. */
const TRANSCRIPTS = 5;
/** In percent: the streams with results. */
const WITH_RESULTS = 30;
const NUMBERS_PER_TRANSCRIPT = 1_000;
const window = { bytes: 4_194_304, calls: 100, frameBytes: 67_108_864 };
const HELLO: JsonObject = {
  hello: { versions: [1], service: 'tallies', shards: 1, window, pingMs: 3_000 },
};
const context = { nowMs: 1_700_000_000_000, seedLow: 7 };

export interface FuzzReport {
  readonly frames: number;
  readonly streams: number;
}

/** Sends about this many frames to the program, on `lanes` streams at a time. Throws if the program hangs or serves wrongly. */
export async function fuzzSdk(
  address: string,
  {
    random,
    frames,
    lanes,
    isRunning,
  }: { random: Random; frames: number; lanes: number; isRunning: () => boolean },
): Promise<FuzzReport> {
  const client = new Client(address, credentials.createInsecure(), CLIENT_OPTIONS);
  const corpus = transcripts().flatMap(framesByStream);
  const others = new Session(random).frames(corpus.flat());
  let [sent, streams] = [0, 0];
  const lane = async (): Promise<void> => {
    while (sent < frames) {
      assert(isRunning(), 'the program has ended');
      const session = new Session(random);
      const own = [HELLO];
      for (let count = 0; count < TRANSCRIPTS; count++)
        own.push(...session.frames(random.pick(corpus)));
      const shares = random.chance(10) ? { frames: 600, bytes: 200 } : SHARES;
      const { messages, count } = mutatedMessages(random, 'ToProcess', own, others, shares);
      sent += count;
      streams += 1;
      const what = () =>
        `the answer to ${messages.map((one) => one.subarray(0, 2_000).toString('hex')).join(' ')}`;
      // oxlint-disable-next-line no-await-in-loop -- a lane has one stream at a time
      await within(BOUND_S, what, played(client, messages));
      // oxlint-disable-next-line no-await-in-loop -- now and then
      if (streams % PROBE_EVERY === 0) await within(BOUND_S, 'a service as usual', probed(client));
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
    await probed(client);
  } finally {
    client.close();
  }
  return { frames: sent, streams };
}

/** Sends the messages, and resolves when the program has ended the stream or has answered a ping. */
function played(client: Client, messages: readonly Buffer[]): Promise<void> {
  const duplex = client.makeBidiStreamRequest(PATH, same, same);
  return new Promise((resolve) => {
    const end = (): void => {
      duplex.cancel();
      resolve();
    };
    duplex.on('error', end);
    duplex.on('end', end);
    duplex.on('data', (message: Buffer) => {
      duplex.write(messageToProcess([{ credit: { bytes: message.length } }]));
      const answers = framesFromProcess(message);
      if (
        answers.some((one) => (one.pong as { number?: number } | undefined)?.number === LAST_PING)
      )
        end();
    });
    for (const message of messages) duplex.write(message);
    // Without a first frame, nothing is answered.
    duplex.write(messageToProcess([HELLO, { ping: { number: LAST_PING } }]));
  });
}

/** Checks that an entity on a stream of its own begins and adds as always. */
function probed(client: Client): Promise<void> {
  const duplex = client.makeBidiStreamRequest(PATH, same, same);
  const command = { context, name: 'add', input: '{"amount":3}' };
  duplex.write(
    messageToProcess([
      HELLO,
      { entity: 1, open: { component: 'tally', id: 'p' } },
      { call: 1, entity: 1, command },
    ]),
  );
  return new Promise((resolve, reject) => {
    duplex.on('error', reject);
    duplex.on('data', (message: Buffer) => {
      for (const { call, effect } of framesFromProcess(message)) {
        if (call !== 1) continue;
        const { reply } = effect as { reply?: string };
        if (reply === '3') resolve();
        else reject(new Error(`the program has answered ${JSON.stringify(effect)}`));
        duplex.removeAllListeners('error').on('error', () => {});
        duplex.cancel();
      }
    });
  });
}

/** Returns the frames that a transcript sends on each of its streams. */
function framesByStream({ steps }: Transcript): readonly (readonly JsonObject[])[] {
  const streams: JsonObject[][] = [[]];
  for (const step of steps) {
    if (step.kind === 'do' && step.words[0] === 'stream') streams.push([]);
    if (step.kind !== 'send') continue;
    const short = step.frames.filter((frame) => JSON.stringify(frame).length < FRAME_LENGTH_MAX);
    streams.at(-1)?.push(...short);
  }
  return streams.filter((frames) => frames.length > 0);
}

/** Joins the frames of several transcripts in one stream, so that most of their numbers and names are right. */
class Session {
  readonly #random: Random;
  #hostCalls = 0;
  #offset = 0;
  /** A result often comes before its call, because nothing is waited for, and ends some streams early. */
  readonly #hasResults: boolean;

  constructor(random: Random) {
    this.#random = random;
    this.#hasResults = random.chance(WITH_RESULTS);
  }

  /** Returns the frames of a transcript with numbers that the stream has not used, and with values for their names. */
  frames(transcript: readonly JsonObject[]): readonly JsonObject[] {
    const known = new Map<string, number>();
    const numberOf = (name: string): number => {
      const number = known.get(name) ?? ++this.#hostCalls;
      known.set(name, number);
      return number;
    };
    const names = { get: numberOf } as unknown as Map<string, number>;
    const routes = { indexOf: () => this.#random.below(ROUTES) } as unknown as readonly string[];
    const offset = this.#offset;
    this.#offset += NUMBERS_PER_TRANSCRIPT;
    const sent = this.#hasResults
      ? transcript
      : transcript.filter(({ result }) => result === undefined);
    return sent.map((frame) => {
      const { call, entity, ...rest } = sentValue(frame, names, routes) as JsonObject;
      return {
        ...rest,
        ...(call !== undefined && { call: (call as number) + offset }),
        ...(entity !== undefined && { entity: (entity as number) + offset }),
      };
    });
  }
}

function same(message: Buffer): Buffer {
  return message;
}
