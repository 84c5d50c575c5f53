// ConstantServer: a server of measurement (x), which answers every request with the same response of six fields. At
// SIGUSR2 it prints the processor time that it has used, in microseconds.
//
// Usage: node bench/constant-server.ts http1|node
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import {
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
  ServerConnections,
  Sweep,
  serveListener,
} from '@svc/http1';

const BODY = Buffer.from('{"value":5}');
const FIELDS = Object.entries({
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': String(BODY.length),
  Date: 'Mon, 23 Nov 2026 11:00:00 GMT',
  ETag: '"5f3a9c"',
  'Cache-Control': 'no-store',
  'X-Request-Id': '7f3a9c1d',
}).flat();
const SWEEP_MS = 1000;

function serverOfNode(): Server {
  return createHttpServer((_, response) => {
    response.sendDate = false;
    response.writeHead(200, FIELDS);
    response.end(BODY);
  });
}

function serverOfHttp1(): Server {
  const connections = new ServerConnections({
    handler: {
      request(exchange) {
        const framing = { kind: 'length', bytes: BODY.length } as const;
        const sink = exchange.respond(200, 'OK', FIELDS, framing);
        sink.write(BODY);
        sink.end();
      },
      refused: ({ status, reason }) => ({ status, reason, fields: [], body: Buffer.alloc(0) }),
    },
    limits: DEFAULT_SERVER_LIMITS,
    times: DEFAULT_SERVER_TIMES,
    sweep: new Sweep(SWEEP_MS),
  });
  const listener = createServer({ allowHalfOpen: true });
  serveListener(listener, connections);
  return listener;
}

const server = process.argv[2] === 'node' ? serverOfNode() : serverOfHttp1();
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${user + system}\n`);
});
process.on('SIGTERM', () => process.exit(0));
