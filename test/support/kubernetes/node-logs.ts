// NodeLogs serves the output of containers as a kubelet does, over HTTPS to the API server alone.
import { createServer, type Server } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface NodeLogsOptions {
  readonly certificate: string;
  readonly key: string;
  /** Authority of the client certificate of the API server. */
  readonly authority: string;
}

interface LogLine {
  readonly atMs: number;
  readonly text: string;
}

/** Output of a container, now and before its last restart. */
interface ContainerOutput {
  current: LogLine[];
  previous: LogLine[] | undefined;
}

const PATH = /^\/containerLogs\/([^/]+)\/([^/]+)\/([^/]+)$/;

export class NodeLogs {
  readonly port: number;
  readonly #server: Server;
  readonly #outputs = new Map<string, ContainerOutput>();
  /** Answers that a test gives for a pod, in the place of its output. */
  readonly #failures = new Map<string, { readonly status: number; readonly text: string }>();

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start({ certificate, key, authority }: NodeLogsOptions): Promise<NodeLogs> {
    const server = createServer({ cert: certificate, key, ca: authority, requestCert: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const logs = new NodeLogs(server);
    server.on('request', (request, response) => logs.#answer(request, response));
    return logs;
  }

  /** Appends a line to the output of a container. `atMs`: when it was written, in milliseconds since 1970. */
  write(pod: string, container: string, text: string, atMs = Date.now()): void {
    this.#output(pod, container).current.push({ atMs, text });
  }

  /** What the container has written so far is the output before its last restart from now on. */
  restart(pod: string, container: string): void {
    const output = this.#output(pod, container);
    output.previous = output.current;
    output.current = [];
  }

  /** Removes the output of a pod that is gone. */
  forget(pod: string): void {
    for (const key of this.#outputs.keys())
      if (key.startsWith(`${pod}/`)) this.#outputs.delete(key);
  }

  /** Requests for the output of a pod fail from now on. */
  fail(pod: string, status: number, text: string): void {
    this.#failures.set(pod, { status, text });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #output(pod: string, container: string): ContainerOutput {
    const key = `${pod}/${container}`;
    const output = this.#outputs.get(key) ?? { current: [], previous: undefined };
    this.#outputs.set(key, output);
    return output;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url!, 'https://node');
    const [, , pod = '', container = ''] = PATH.exec(pathname) ?? [];
    const failure = this.#failures.get(pod);
    if (failure !== undefined) {
      response.writeHead(failure.status).end(failure.text);
      return;
    }
    const { current, previous } = this.#output(pod, container);
    const lines = searchParams.get('previous') === 'true' ? previous : current;
    if (lines === undefined) {
      const text = `previous terminated container "${container}" in pod "${pod}" not found`;
      response.writeHead(400).end(text);
      return;
    }
    response.end(selected(lines, searchParams));
  }
}

/** Returns the lines that a query selects, as a kubelet does: the limit of bytes counts from their beginning. */
function selected(lines: readonly LogLine[], query: URLSearchParams): Buffer {
  const sinceS = query.get('sinceSeconds');
  const tail = query.get('tailLines');
  const limit = query.get('limitBytes');
  const recent =
    sinceS === null
      ? lines
      : lines.filter(({ atMs }) => atMs >= Date.now() - Number(sinceS) * 1000);
  const last = tail === null ? recent : recent.slice(Math.max(0, recent.length - Number(tail)));
  const bytes = Buffer.from(last.map(({ text }) => `${text}\n`).join(''));
  return limit === null ? bytes : bytes.subarray(0, Number(limit));
}
