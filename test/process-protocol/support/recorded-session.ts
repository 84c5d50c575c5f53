// RecordedSession: a session of a runtime with a process, as the bytes of both directions, and what came of each call. A file has one line for each message, in the order
// in which they were sent:
//
//   1> BASE64     stream 1, from the runtime to the process
//   1< BASE64     stream 1, from the process to the runtime
//   = JSON        what came of the calls, in their order
//
// Messages of nothing but pings, pongs and credits are left out: they are sent by time.
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
} from '@grpc/grpc-js';
import type { CallContext } from '../../../model/call.ts';
import type { EntityEvent } from '../../../model/entity.ts';
import type { Guest, HostCalls } from '../../../model/guest.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import {
  framesFromProcess,
  framesToProcess,
  type JsonObject,
} from '../../suites/process-protocol/frame-text.ts';

export interface RecordedMessage {
  readonly stream: number;
  readonly isToProcess: boolean;
  readonly bytes: Buffer;
}

export interface Recording {
  readonly messages: readonly RecordedMessage[];
  readonly outcomes: readonly unknown[];
}

export function recordingOf(text: string): Recording {
  const messages: RecordedMessage[] = [];
  let outcomes: readonly unknown[] = [];
  for (const line of text.trim().split('\n')) {
    const [, stream, direction, bytes] = /^(\d+)([<>]) (.*)$/.exec(line) ?? [];
    if (line.startsWith('= ')) outcomes = JSON.parse(line.slice(2)) as readonly unknown[];
    else if (stream !== undefined)
      messages.push({
        stream: Number(stream),
        isToProcess: direction === '>',
        bytes: Buffer.from(bytes!, 'base64'),
      });
  }
  return { messages, outcomes };
}

export function recordingText({ messages, outcomes }: Recording): string {
  const lines = messages
    .filter(({ isToProcess, bytes }) => !isControl(framesOf(isToProcess, bytes)))
    .map(
      ({ stream, isToProcess, bytes }) =>
        `${stream}${isToProcess ? '>' : '<'} ${bytes.toString('base64')}`,
    );
  return `${lines.join('\n')}\n= ${JSON.stringify(outcomes)}\n`;
}

export function framesOf(isToProcess: boolean, bytes: Buffer): readonly JsonObject[] {
  return isToProcess ? framesToProcess(bytes) : framesFromProcess(bytes);
}

export function isControl(frames: readonly JsonObject[]): boolean {
  return frames.every(({ ping, pong, credit }) => (ping ?? pong ?? credit) !== undefined);
}

const same = (message: Buffer): Buffer => message;
export const RAW_METHOD = {
  path: '/svc.process.v1.Process/Open',
  requestStream: true,
  responseStream: true,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
} as const;
export type RawDuplex = ServerDuplexStream<Buffer, Buffer>;

export interface RawServer {
  readonly address: string;
  close(): void;
}

/** Serves the method on a free port, with messages as bytes. `open`: called for each stream, which are counted from 1. */
export async function rawServer(
  open: (duplex: RawDuplex, stream: number) => void,
): Promise<RawServer> {
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  let streams = 0;
  server.addService({ Open: RAW_METHOD }, { Open: (duplex: RawDuplex) => open(duplex, ++streams) });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

/** Serves what the process at the address does, and passes each message to `onMessage`. */
export async function recordingProxy(
  address: string,
  onMessage: (message: RecordedMessage) => void,
): Promise<RawServer> {
  const client = new Client(address, credentials.createInsecure());
  const server = await rawServer((inner, stream) => {
    const outer = client.makeBidiStreamRequest(RAW_METHOD.path, same, same);
    inner.on('data', (bytes: Buffer) => {
      onMessage({ stream, isToProcess: true, bytes });
      outer.write(bytes);
    });
    outer.on('data', (bytes: Buffer) => {
      onMessage({ stream, isToProcess: false, bytes });
      inner.write(bytes);
    });
    outer.on('error', () => inner.end());
    inner.on('error', () => outer.cancel());
    inner.on('cancelled', () => outer.cancel());
  });
  return {
    address: server.address,
    close() {
      server.close();
      client.close();
    },
  };
}

const context: CallContext = {
  nowMs: 1_700_000_000_000,
  seed: 0x1234_5678_9abc_def0n,
  metadata: [['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']],
};
const stored = (json: string) => ({ manifest: 'tally-event', json });
const added = stored('{"type":"added","amount":4}');
const entity = { component: 'tally', id: 't1' };
const event: EntityEvent = { entity, seq: 3, timeMs: 1_700_000_000_000, event: added };
const ADDITION = '{"amount":3}';
const TALLY = '{"id":"t1","total":7,"notes":["ä 漢 🎉"]}';

const HOST: HostCalls = {
  nowMs: () => 1_700_000_000_500,
  call: (_target, name) =>
    name === 'add'
      ? Promise.reject(new SvcError('SVC_OVERLOADED', 'too much waits'))
      : { kind: 'reply', json: TALLY },
  readEvents: () => [{ kind: 'event', seq: 3, timeMs: 1_700_000_000_000, event: added }],
  setTimer: async () => {},
  cancelTimer: async () => {},
  request: async () => ({ status: 203, headers: [['x-a', 'b']], body: Buffer.from('7 per cent') }),
  find: () => ({ rows: ['{"total":3}'], cursor: 'next', asOfMs: undefined }),
};

/** Makes a call of each kind, one after the other, and returns what came of them. */
export async function playSession(guest: Guest): Promise<readonly unknown[]> {
  const outcomes: unknown[] = [];
  const note = async (run: () => unknown): Promise<void> =>
    void outcomes.push(await outcomeOf(run));
  const first = await guest.entities.open(entity, undefined);
  await note(() => first.query(context, 'get', 'null'));
  await note(async () => {
    const effect = await first.command(context, 'add', ADDITION);
    if (effect.kind !== 'effect') return effect;
    return [effect, await first.apply(effect.events, undefined)];
  });
  await note(() => first.command(context, 'remind', 'null'));
  await note(() => first.command(context, 'remove', 'null'));
  await note(() => first.command(context, 'close', 'null'));
  await note(() => first.apply([added, stored('{"type":"noted","text":"ä 漢 🎉"}')], undefined));
  await note(() => first.apply([stored('{"type":"exploded"}')], undefined));
  await note(() => first.snapshot());
  await note(() => first.command(context, 'fail', 'null'));
  first.close();
  const second = await guest.entities.open(entity, '{"total":7,"notes":["ä 漢 🎉"]}', true);
  await note(() => second.query(context, 'get', 'null'));
  second.close();
  for (const route of ROUTES) {
    const body =
      route === 'POST /tallies/{id}/add'
        ? ({ kind: 'json', text: ADDITION } as const)
        : ({ kind: 'none' } as const);
    const request = {
      route: routeIndex(guest, route),
      parameters: ['t1'],
      query: 'a=b',
      headers: [['accept', '*/*']],
      caller: 'local',
      body,
    } as const;
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await note(() => guest.endpoints.handle(context, request, HOST));
  }
  for (const json of [added.json, '{"type":"noted","text":"a"}', '{"type":"broken"}'])
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await note(() =>
      guest.consumers!.handle(
        context,
        'mirror',
        { ...event, event: stored(json) },
        { ...HOST, call: () => ({ kind: 'refusal', code: 'CONFLICT', message: 'not now' }) },
      ),
    );
  await note(() => guest.views!.keys('totals', [event]));
  const rows = [
    { key: 't1', json: undefined },
    { key: 'all', json: '{"total":10}' },
  ];
  await note(() => guest.views!.fold('totals', rows, [{ event, rows: [0, 1] }]));
  // As it is stored: JSON has no undefined.
  return JSON.parse(JSON.stringify(outcomes)) as readonly unknown[];
}

const ROUTES = ['get', 'history', 'rate', 'large', 'fail']
  .map((name) => `GET /tallies/{id}${name === 'get' ? '' : `/${name}`}`)
  .concat('POST /tallies/{id}/add', 'PUT /tallies/{id}/reminder');

function routeIndex({ descriptor }: Guest, wanted: string): number {
  return descriptor.endpoints
    .flatMap(({ prefix, routes }) => routes.map(({ method, path }) => `${method} ${prefix}${path}`))
    .indexOf(wanted);
}

async function outcomeOf(run: () => unknown): Promise<unknown> {
  try {
    return (await run()) ?? null;
  } catch (error) {
    if (error instanceof GuestFault) return { fault: error.faultCause, message: error.message };
    if (error instanceof SvcError) return { code: error.code, message: error.message };
    throw error;
  }
}
