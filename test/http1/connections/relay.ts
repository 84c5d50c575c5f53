// A program that relays requests from a TLS listener to a TCP port, bodies unbuffered both ways. Sends its port to its
// parent, and its memory (RSS, in bytes) whenever it is asked.
import { createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import type { BodySink } from '../../../http1/connections/body.ts';
import {
  DEFAULT_CLIENT_LIMITS,
  DEFAULT_CLIENT_TIMES,
} from '../../../http1/connections/client-limits.ts';
import { tcpConnect } from '../../../http1/connections/connect.ts';
import { serveListener } from '../../../http1/connections/listener.ts';
import { Pool } from '../../../http1/connections/pool.ts';
import { ServerConnections } from '../../../http1/connections/server-connections.ts';
import type { ServerExchange } from '../../../http1/connections/server-exchange.ts';
import {
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
} from '../../../http1/connections/server-limits.ts';
import { Sweep } from '../../../http1/connections/sweep.ts';

const CONNECTION_FIELDS = new Set(['connection', 'keep-alive', 'transfer-encoding']);

function endToEnd(flat: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < flat.length; at += 2)
    if (!CONNECTION_FIELDS.has(flat[at]!.toLowerCase())) kept.push(flat[at]!, flat[at + 1]!);
  return kept;
}

const { TARGET_PORT, KEY, CERTIFICATE } = process.env;
const sweep = new Sweep(200);
const pool = new Pool({
  connect: tcpConnect({ host: '127.0.0.1', port: Number(TARGET_PORT) }, 5_000, sweep),
  limits: DEFAULT_CLIENT_LIMITS,
  times: DEFAULT_CLIENT_TIMES,
  sweep,
});

function relay(exchange: ServerExchange): void {
  const { head } = exchange;
  pool.take({}, ({ connection }) => {
    if (connection === undefined) {
      exchange.reset();
      return;
    }
    const { method, path: target, framing, fields } = head;
    let sink: BodySink | undefined;
    const request = {
      method,
      target,
      framing,
      version: '1.1',
      fields: endToEnd(fields.flat),
    } as const;
    const onward = connection.send(request, {
      informational: ({ status, reason }) => exchange.informational(status, reason, []),
      head: (response) => {
        const { status, reason } = response;
        sink = exchange.respond(status, reason, endToEnd(response.fields.flat), response.framing);
        sink.onDrain = () => onward.resume();
      },
      data: (bytes) => {
        if (sink?.write(bytes) === false) onward.pause();
      },
      end: ({ flat }) => sink?.end(flat),
      failed: () => exchange.reset(),
    });
    onward.body.onDrain = () => exchange.resume();
    exchange.onGone = () => onward.cancel();
    exchange.receive({
      data: (bytes) => {
        if (!onward.body.write(bytes)) exchange.pause();
      },
      end: ({ flat }) => onward.body.end(flat),
      broken: () => onward.body.destroy(),
    });
  });
}

const connections = new ServerConnections({
  handler: {
    request: relay,
    refused: ({ status }) => ({ status, reason: '', fields: [], body: Buffer.alloc(0) }),
  },
  limits: DEFAULT_SERVER_LIMITS,
  times: DEFAULT_SERVER_TIMES,
  sweep,
});
const listener = createServer({ key: KEY, cert: CERTIFICATE, allowHalfOpen: true });
serveListener(listener, connections);
listener.listen(0, '127.0.0.1', () =>
  process.send!({ port: (listener.address() as AddressInfo).port }),
);
process.on('message', () => process.send!({ rssBytes: process.memoryUsage.rss() }));
process.on('disconnect', () => process.exit());
