// A server on node:http that answers each request with what it has received. Its argument is the port.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { shownBody } from './shown-body.ts';

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/events') {
    response.setHeader('Content-Type', 'text/event-stream');
    for (let number = 0; number < 3; number++) {
      response.write(`data: ${number}\n\n`);
      await pause(100);
    }
    response.end();
    return;
  }
  if (request.url === '/hints') response.writeEarlyHints({ link: '</a.css>; rel=preload' });
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const callers = request.headersDistinct['x-svc-caller']?.join(',') ?? '';
  response
    .setHeader(
      'X-Report',
      `${request.method} ${request.url} ${callers} ${shownBody(Buffer.concat(parts))}`,
    )
    .setHeader('Content-Length', 3)
    .end('ok\n');
}

const server = createServer(
  // Node would refuse heads that the proxy passes.
  { maxHeaderSize: 128 * 1024, keepAliveTimeout: 600_000 },
  (request, response) => {
    // A request that breaks off gets no answer.
    answer(request, response).catch(() => response.destroy());
  },
);
server.listen(Number(process.argv[2]), '127.0.0.1');
