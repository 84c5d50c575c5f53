// FakeApi: a server that answers like the console's own server, with invented services, so that the page runs without
// a service. Its data can be changed while it runs.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { AddressInfo } from 'node:net';
import type { DevState } from '@svc/contract';
import { DESCRIPTION, FAILED_TRACE, INSTANCE, TRACE } from './description.ts';
import { entityList, historyPage } from './history.ts';
import { DETAILS, faultList, liveNumbers, traceSummaries } from './traces.ts';

export interface Played {
  scene: 'busy' | 'idle' | 'none' | 'gone' | 'unreadable' | 'bare';
  dev: DevState | undefined;
  newestTrace: number;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

export class FakeApi {
  readonly played: Played = { scene: 'busy', dev: undefined, newestTrace: 600 };
  readonly #page: string;
  readonly #server: Server;

  private constructor(page: string) {
    this.#page = page;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(page: string, port = 0): Promise<FakeApi> {
    const api = new FakeApi(page);
    await new Promise<void>((resolve) => api.#server.listen(port, '127.0.0.1', resolve));
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.url);
    if (!url.pathname.startsWith('/api/')) return this.#file(url.pathname, response);
    if (request.method === 'POST') return json(response, 200, await called(request));
    const [status, body] = this.#api(url);
    return json(response, status, body);
  }

  async #file(path: string, response: ServerResponse): Promise<void> {
    const name = path === '/' ? 'index.html' : path;
    try {
      const bytes = await readFile(join(this.#page, name));
      response.writeHead(200, {
        'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
        'content-security-policy': POLICY,
      });
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  }

  #api(url: URL): [number, unknown] {
    const { scene } = this.played;
    const [, , , instanceId, , what, ...rest] = url.pathname.split('/').map(decodeURIComponent);
    if (instanceId === undefined) return [200, this.#services()];
    if (scene === 'gone' || scene === 'none') return problem(502, 'connection refused');
    const asked = (name: string) => url.searchParams.get(name) ?? '';
    switch (what) {
      case 'service':
        return [
          200,
          scene === 'bare' ? BARE : { ...DESCRIPTION, dev: this.played.dev !== undefined },
        ];
      case 'live':
        return [200, liveNumbers(scene === 'busy')];
      case 'faults':
        return [200, scene === 'busy' ? faultList(Number(asked('limit'))) : faultList(0)];
      case 'traces':
        return rest[0] === undefined ? [200, this.#traces(url)] : detail(rest[0]);
      case 'dev':
        return this.played.dev === undefined ? problem(404, 'no dev') : [200, this.played.dev];
      case 'entities': {
        const [component = '', id] = rest;
        if (id === undefined)
          return [
            200,
            entityList(component, {
              prefix: asked('prefix'),
              after: asked('after'),
              limit: Number(asked('limit')),
            }),
          ];
        const page = historyPage(component, id, Number(asked('from')), Number(asked('limit')));
        return page === undefined ? problem(404, `${id} is not in the journal`) : [200, page];
      }
      case 'query':
        return [
          200,
          { id: rest[1], items: [{ sku: 'A-1', quantity: 2 }], total: '9007199254740993' },
        ];
      case undefined:
      default:
        return problem(404, 'unknown');
    }
  }

  #traces(url: URL): unknown {
    if (this.played.scene !== 'busy')
      return {
        traces: [],
        window: { capacity: 10_000, recorded: 0 },
        total: 0,
        newer: 0,
        previous: null,
        next: null,
        silentShards: [],
      };
    const outcome = url.searchParams.get('outcome');
    const traces = traceSummaries(100, this.played.newestTrace).filter(
      (trace) => outcome === null || trace.outcome === outcome,
    );
    const window = { capacity: 10_000, recorded: 301_223 };
    const isFirst = !url.searchParams.has('after');
    const [newer, next] = isFirst ? [0, '500'] : [100, null];
    return { traces, window, total: 200, newer, previous: null, next, silentShards: [] };
  }

  #services(): unknown {
    const { scene } = this.played;
    const folder = '/home/ada/.svc/running';
    if (scene === 'unreadable')
      return { folder, services: [], unanswered: 0, problem: 'EACCES: permission denied' };
    if (scene === 'none') return { folder, services: [], unanswered: 2, problem: null };
    const cart = {
      instanceId: INSTANCE,
      name: 'cart',
      pid: 41_873,
      startedAt: DESCRIPTION.startedAt,
      state: scene === 'gone' ? 'gone' : 'running',
      address: 'http://127.0.0.1:9000',
      observabilityAddress: 'http://127.0.0.1:45123',
      problem: null,
    };
    const till = {
      ...cart,
      instanceId: 'ffee000011112222',
      name: 'till-of-the-corner-shop',
      pid: 4,
      state: 'running',
    };
    const ledger = { ...till, instanceId: 'bb0011', name: 'ledger', address: null, pid: 990 };
    return { folder, services: [cart, till, ledger], unanswered: 1, problem: null };
  }
}

const BARE = { ...DESCRIPTION, components: [], routes: [], dev: false };

function detail(traceId: string): [number, unknown] {
  for (const [known, trace] of DETAILS)
    if (known.slice(0, 31) === traceId.slice(0, 31)) return [200, { ...trace, traceId }];
  return problem(404, 'no such trace in the window');
}

function problem(status: number, error: string): [number, unknown] {
  return [status, { status, error }];
}

/** Answers 500 for the item with quantity 13, a refusal for 999, and otherwise the sent body. */
async function called(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const { path, body } = JSON.parse(text) as { path: string; body: string | null };
  const headers = [
    ['content-type', 'application/json'],
    ['date', new Date().toUTCString()],
  ];
  const answer = (status: number, said: string, traceId = TRACE) => ({
    status,
    headers,
    body: said,
    bodyIsBase64: false,
    durationMs: 12.41,
    traceId,
  });
  if (body?.includes('"quantity":13'))
    return answer(
      500,
      '{"status":500,"error":"internal error","errorId":"5f1c2a90"}',
      FAILED_TRACE,
    );
  if (body?.includes('"quantity":999'))
    return answer(409, '{"status":409,"error":"this cart is checked out already"}');
  if (path.startsWith('/orders/photo'))
    return {
      ...answer(200, 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'),
      bodyIsBase64: true,
      headers: [['content-type', 'image/png']],
    };
  return answer(200, body ?? '{"id":"cart-7","items":[],"total":9007199254740993}');
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
