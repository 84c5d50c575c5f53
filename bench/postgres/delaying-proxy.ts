// DelayingProxy stands for a network between a client and a server: what the server sends arrives some milliseconds later. It runs in
// a thread of its own, so that it takes no time from the client's.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

interface Path {
  /** Port of the server. */
  readonly port: number;
  readonly delayMs: number;
}

export class DelayingProxy {
  readonly port: number;
  readonly #worker: Worker;

  /** Listens on a free port of 127.0.0.1, and leads to the given port there. */
  static async to(port: number, delayMs: number): Promise<DelayingProxy> {
    const path: Path = { port, delayMs };
    const worker = new Worker(new URL(import.meta.url), { workerData: path });
    const [listening] = (await once(worker, 'message')) as [number];
    return new DelayingProxy(worker, listening);
  }

  private constructor(worker: Worker, port: number) {
    this.#worker = worker;
    this.port = port;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

function serve({ port, delayMs }: Path): void {
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    pass(client, upstream, (write) => write());
    // Timers of the same duration end in the order in which they were set.
    pass(upstream, client, (write) => setTimeout(write, delayMs));
  });
  server.listen(0, '127.0.0.1', () => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    parentPort!.postMessage((server.address() as AddressInfo).port);
  });
}

function pass(from: Socket, to: Socket, later: (write: () => void) => void): void {
  from.on('data', (bytes) => later(() => to.write(bytes)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => to.destroy());
}

if (!isMainThread) serve(workerData as Path);
