// A server on node:http that answers each request with what it has received. Its arguments are the port and the seconds after
// which it closes an idle connection.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { eventsOf } from './awaited-events.ts';
import { shownBody } from './shown-body.ts';

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path, query = ''] = request.url!.split('?');
  if (path === '/events') {
    response.setHeader('Content-Type', 'text/event-stream');
    for await (const event of eventsOf(query)) response.write(event);
    response.end();
    return;
  }
  if (path === '/big') {
    response.end(Buffer.alloc(Number(query), 'x'));
    return;
  }
  if (path === '/hints') response.writeEarlyHints({ link: '</a.css>; rel=preload' });
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
  { maxHeaderSize: 128 * 1024, keepAliveTimeout: Number(process.argv[3]) * 1000 },
  (request, response) => {
    // A request that breaks off gets no answer.
    answer(request, response).catch(() => response.destroy());
  },
);
server.listen(Number(process.argv[2]), '127.0.0.1');
