// A process that answers as a test says, also against the rules of the protocol: a gRPC server on loopback with no SDK.
import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { Type } from 'typebox';
import { onTestFinished } from 'vitest';
import { createEmbeddedGuest } from '../../../../../components/embedded-guest.ts';
import { defineEndpoint, defineEntity, get } from '../../../../../components/sdk.ts';
import {
  FromProcessFrame,
  type ToProcessFrame,
} from '../../../../../process-protocol/generated/svc/process/v1/process.ts';
import { messageOf, OPEN_METHOD, type Received } from '../../../../../process-protocol/protocol.ts';

type Duplex = ServerDuplexStream<Received<ToProcessFrame>, Buffer>;
export type FromFrame = NonNullable<FromProcessFrame['frame']>;
export type ToFrame = NonNullable<ToProcessFrame['frame']>;

/** One stream, as a script sees it. */
export interface ScriptedStream {
  /** Number of the stream, from 0. */
  readonly index: number;
  /** Sends a frame. */
  answer(call: number, frame: FromFrame): void;
  /** Sends bytes that need not be a message. */
  write(bytes: Buffer): void;
  /** Ends the stream with an error. */
  end(): void;
}

export type Script = (frame: ToFrame, call: number, stream: ScriptedStream) => void;

export interface ScriptedProcess {
  readonly address: string;
  /** All frames that were received, in order. */
  readonly received: readonly (ToProcessFrame & { readonly stream: number })[];
  /** Takes no further frame from the connection. */
  stopReading(): void;
}

const counted = Type.Object({ count: Type.Integer({ minimum: 0, maximum: 1_000 }) });
/** A counter, whose handlers never run: the script answers in their place. */
const counter = defineEntity({
  component: 'counter',
  state: { manifest: 'counter-state', schema: counted },
  event: {
    manifest: 'counter-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('added') })]),
  },
  empty: () => ({ count: 0 }),
  apply: ({ count }) => ({ count: count + 1 }),
  commands: { add: { handle: (_state, context) => context.reply() } },
  queries: { get: { reply: counted, handle: (state) => state } },
});
const route = defineEndpoint({
  name: 'CounterEndpoint',
  prefix: '/counters',
  access: 'internet',
  routes: {
    get: get('/{id}', { reply: counted }, ({ parameters: { id } }, { call }) =>
      call(counter, id).get(),
    ),
  },
});
const DESCRIPTOR = JSON.stringify(
  createEmbeddedGuest({ entities: [counter], endpoints: [route] }).descriptor,
);

/** The first frame of a process that holds a counter. */
export const welcome = (
  other: Partial<Extract<FromFrame, { $case: 'welcome' }>['value']> = {},
): FromFrame => ({
  $case: 'welcome',
  value: {
    version: 1,
    sdk: 'scripted',
    instance: 'one',
    descriptor: DESCRIPTOR,
    fingerprint: '',
    window: { bytes: 4_194_304, calls: 100, frameBytes: 67_108_864 },
    ...other,
  },
});

/** A script that greets, answers pings, and leaves everything else to `script`. */
export const greeting =
  (script: Script): Script =>
  (frame, call, stream) => {
    if (frame.$case === 'hello') stream.answer(0, welcome());
    else if (frame.$case === 'ping')
      stream.answer(0, { $case: 'pong', value: { number: frame.value.number } });
    else script(frame, call, stream);
  };

/** Serves the script on a free port until the test is over. `keepsReceived`: whether it keeps all frames that were received. */
export async function scriptedProcess(
  script: Script,
  { keepsReceived = true }: { readonly keepsReceived?: boolean } = {},
): Promise<ScriptedProcess> {
  const received: (ToProcessFrame & { readonly stream: number })[] = [];
  const duplexes = new Set<Duplex>();
  let streams = 0;
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  const open = (duplex: Duplex): void => {
    const index = streams++;
    duplexes.add(duplex);
    for (const event of ['cancelled', 'end', 'close'])
      duplex.once(event, () => duplexes.delete(duplex));
    const stream: ScriptedStream = {
      index,
      answer: (call, frame) =>
        void duplex.write(messageOf([FromProcessFrame.encode({ call, frame }).finish()])),
      write: (bytes) => void duplex.write(bytes),
      end: () => void duplex.emit('error', { code: status.UNAVAILABLE, details: 'it has gone' }),
    };
    duplex.on('error', () => {});
    duplex.on('data', ({ frames }: Received<ToProcessFrame>) => {
      for (const each of frames) {
        if (keepsReceived) received.push({ ...each, stream: index });
        if (each.frame !== undefined) script(each.frame, each.call, stream);
      }
    });
  };
  server.addService({ Open: OPEN_METHOD }, { Open: open });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  onTestFinished(() => server.forceShutdown());
  return {
    address: `127.0.0.1:${port}`,
    received,
    stopReading() {
      for (const duplex of duplexes) duplex.pause();
    },
  };
}
