// The server behind peers that forward requests themselves: answers each request with what arrived. Its argument is the
// port. It takes any method, which node:http does not.
import { createServer } from 'node:net';
import {
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
  type ServerExchange,
  ServerConnections,
  serveListener,
  Sweep,
} from '@svc/http1';
import { eventsOf } from './awaited-events.ts';
import { shownBody } from './shown-body.ts';

const BODY = Buffer.from('ok\n');

async function sendEvents(exchange: ServerExchange, path: string): Promise<void> {
  // nginx passes events one by one if it is asked to.
  const fields = ['Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no'];
  const response = exchange.respond(200, 'OK', fields, { kind: 'chunked' });
  for await (const event of eventsOf(path)) response.write(event);
  response.end();
}

function answer(exchange: ServerExchange): void {
  const { method, target, fields, expectsContinue } = exchange.head;
  const [, resource, query = ''] = /^(\/[a-z]*)(?:\?(.*))?$/.exec(target) ?? [];
  if (resource === '/events') {
    void sendEvents(exchange, query);
    return;
  }
  if (resource === '/big') {
    const response = exchange.respond(200, 'OK', [], { kind: 'chunked' });
    response.write(Buffer.alloc(Number(query), 'x'));
    response.end();
    return;
  }
  if (expectsContinue) exchange.informational(100, 'Continue', []);
  const parts: Buffer[] = [];
  exchange.receive({
    data: (bytes) => parts.push(Buffer.from(bytes)),
    end() {
      const callers = fields.all('x-svc-caller').join(',');
      // ProxyPass of Apache merges slashes at the beginning of a path; this is the path that Apache itself has.
      const path = fields.first('x-request-line')?.split(' ')[1] ?? target;
      const report = `${method} ${path} ${callers} ${shownBody(Buffer.concat(parts))}`;
      const framing = { kind: 'length', bytes: BODY.length } as const;
      const response = exchange.respond(200, 'OK', ['X-Report', report], framing);
      if (method !== 'HEAD') response.write(BODY);
      response.end();
    },
    broken: () => {},
  });
}

const server = createServer({ allowHalfOpen: true });
serveListener(
  server,
  new ServerConnections({
    handler: {
      request: answer,
      refused: ({ status }) => ({ status, reason: 'Refused', fields: [], body: Buffer.alloc(0) }),
    },
    limits: DEFAULT_SERVER_LIMITS,
    times: { ...DEFAULT_SERVER_TIMES, idleMs: 600_000 },
    sweep: new Sweep(1000),
  }),
);
server.listen(Number(process.argv[2]), '127.0.0.1');
