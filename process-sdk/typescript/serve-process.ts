// ServeProcess: listens for the runtime on loopback, and serves the components of a program to it.
import { randomUUID } from 'node:crypto';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import type { Components } from '@svc/components/components';
import { createEmbeddedGuest, type EmbeddedGuest } from '@svc/components/embedded-guest';
import type { RunnableEntity } from '@svc/components/entity-definition';
import { SvcError } from '@svc/kit/svc-error';
import type { ToProcessFrame } from '@svc/process-protocol/process';
import {
  FRAME_BYTES_MAX,
  OPEN_METHOD,
  PROCESS_PORT,
  PROCESS_PORT_VARIABLE,
  type Received,
  WINDOW_BYTES,
} from '@svc/process-protocol/protocol';
import { endWithSignal } from './first-process.ts';
import { ServedStream } from './served-stream.ts';

type Duplex = ServerDuplexStream<Received<ToProcessFrame>, Buffer>;

const HOST = '127.0.0.1';

export interface ProcessOptions extends Components {
  /** Port on 127.0.0.1, 0 to 65535; 0 takes a free one. Default: that of the variable SVC_PROCESS_PORT, or else 9010. */
  readonly port?: number;
}

export interface ServedProcess {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** Ends the streams of the runtime and stops listening. */
  close(): Promise<void>;
}

/**
 * Serves the components to the runtime, which `svc run --process` or a sidecar runs. Rejects with SVC_DEFINITION_INVALID if the components do
 * not fit together, with SVC_SETTING_INVALID for a port that is none, and with SVC_ADDRESS_UNAVAILABLE if the port cannot be had.
 *
 * As process 1 of a container, the program is closed and ends with SIGTERM and SIGINT, unless it listens for the signal itself.
 */
export async function serveProcess(options: ProcessOptions): Promise<ServedProcess> {
  const { port = portOf(process.env[PROCESS_PORT_VARIABLE]), ...components } = options;
  const guest = guestOf(components);
  const instance = randomUUID();
  const streams = new Set<ServedStream>();
  const server = new Server({
    'grpc.max_receive_message_length': FRAME_BYTES_MAX + 1024,
    'grpc.max_send_message_length': FRAME_BYTES_MAX + 1024,
    'grpc-node.flow_control_window': WINDOW_BYTES,
    'grpc.so_reuseport': 0,
  });
  server.addService(
    { Open: OPEN_METHOD },
    {
      Open: (duplex: Duplex) => {
        const stream = new ServedStream({ guest, duplex, instance });
        streams.add(stream);
        void stream.ended.then(() => streams.delete(stream));
      },
    },
  );
  const bound = await listen(server, port);
  const close = async (): Promise<void> => {
    stayAfterSignal();
    for (const stream of streams) stream.close();
    server.forceShutdown();
    await guest.close();
  };
  const stayAfterSignal = endWithSignal(close);
  return { address: `${HOST}:${bound}`, close };
}

function guestOf(components: Components): EmbeddedGuest {
  const entities = (components.entities ?? []) as readonly RunnableEntity[];
  const comparing = entities.find(({ comparedInput }) => comparedInput !== undefined);
  if (comparing !== undefined)
    throw new SvcError(
      'SVC_DEFINITION_INVALID',
      `entity '${comparing.component}': comparedInput is not available in a process of its own. Leave it out: then the whole input is compared.`,
    );
  return createEmbeddedGuest(components, { freezesStates: true });
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${HOST}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else
        reject(
          new SvcError(
            'SVC_ADDRESS_UNAVAILABLE',
            `The process cannot listen at ${HOST}:${port}: ${error.message}. Give another port.`,
            { cause: error },
          ),
        );
    });
  });
}

function portOf(text: string | undefined): number {
  if (text === undefined) return PROCESS_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (port <= 65_535) return port;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The variable ${PROCESS_PORT_VARIABLE} is no port: give a number from 0 to 65535.`,
  );
}
