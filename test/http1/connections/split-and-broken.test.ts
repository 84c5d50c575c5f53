// A client's and a server's connection over a wire that splits everything at any point, and breaks at any byte.
import { describe, expect, it } from 'vitest';
import { ClientConnection } from '../../../http1/connections/client-connection.ts';
import type { ClientExchange } from '../../../http1/connections/client-exchange.ts';
import {
  DEFAULT_CLIENT_LIMITS,
  DEFAULT_CLIENT_TIMES,
} from '../../../http1/connections/client-limits.ts';
import { within } from '../../support/within.ts';
import { Response } from './called.ts';
import { Served } from './served.ts';
import { wire, type Wire } from './wire.ts';

interface Run {
  readonly served: Served;
  readonly responses: readonly Response[];
}

/** Sends a POST and a GET over one connection. The server echoes the body, after an informational response. */
async function run(how: Wire): Promise<Run> {
  const { client, server } = wire(how);
  const served = new Served();
  served.onRequest = (exchange, body) => {
    exchange.informational(103, 'Hints', ['Link', '</a>']);
    void body.over.then(() => {
      if (body.failure !== undefined) return;
      const sink = exchange.respond(200, 'OK', ['X', 'y'], { kind: 'chunked' });
      for (const each of body.text) sink.write(Buffer.from(each));
      sink.end(body.trailers);
    });
  };
  served.connections.accept(server);
  const closed = new Promise<void>((resolve) => client.once('close', resolve));
  const connection = new ClientConnection(client, {
    limits: DEFAULT_CLIENT_LIMITS,
    times: DEFAULT_CLIENT_TIMES,
    sweep: served.clock.sweep,
    onIdle: () => undefined,
    onClosed: () => undefined,
  });
  const responses: Response[] = [];
  const send = (method: string, framing: 'chunked' | 'none'): ClientExchange => {
    const response = new Response();
    responses.push(response);
    const fields = ['Host', 'a'];
    const request = {
      method,
      target: '/',
      version: '1.1',
      fields,
      framing: { kind: framing },
    } as const;
    return connection.send(request, response);
  };
  const post = send('POST', 'chunked');
  post.body.write(Buffer.from('abc'));
  setImmediate(() => {
    post.body.write(Buffer.from('defgh'));
    post.body.end(['X-T', 'z']);
  });
  await responses[0]!.over;
  if (connection.isUsable) {
    send('GET', 'none').body.end();
    await responses[1]!.over;
  }
  connection.retire();
  await within(10, 'the close', closed);
  await within(10, 'the close of the server', served.connections.empty());
  return { served, responses };
}

const COMPLETE = ['103', '200', 'end X-T z'];

describe('a connection', () => {
  it('reads what is split at any point', async () => {
    for (let pieceBytes = 1; pieceBytes < 60; pieceBytes += 1) {
      const { served, responses } = await run({ pieceBytes });
      expect(responses.map(({ log }) => log)).toEqual([COMPLETE, ['103', '200', 'end']]);
      expect(responses[0]!.text).toBe('abcdefgh');
      expect(served.seen.map(({ body }) => body.text)).toEqual(['abcdefgh', '']);
    }
  });

  it.each(['upBytes', 'downBytes'] as const)(
    'that breaks after any byte is never complete: %s',
    async (way) => {
      const kinds = new Set<string | undefined>();
      for (let bytes = 1; bytes < 330; bytes += 1) {
        const { served, responses } = await run({ [way]: bytes });
        for (const { log, failure } of responses) {
          const [last] = log.slice(-1);
          expect(last === 'end' || last === 'end X-T z').toBe(failure === undefined);
          expect(
            log.filter((entry) => entry.startsWith('end') || entry.includes('closed')).length,
          ).toBe(1);
          kinds.add(failure?.kind);
        }
        for (const { body } of served.seen)
          expect(body.trailers === undefined).toBe(body.failure !== undefined);
        // Nothing is left of it.
        expect(served.connections.requestsInFlight).toBe(0);
        expect(served.clock.sweep.size).toBe(0);
      }
      expect(kinds).toEqual(
        new Set([undefined, 'closed-before-response', 'closed-while-answering']),
      );
    },
  );
});
