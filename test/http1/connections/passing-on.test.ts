// A head that a reader accepts can be sent again: every head of the corpus, without the fields that belong to a connection.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ClientConnection } from '../../../http1/connections/client-connection.ts';
import {
  DEFAULT_CLIENT_LIMITS,
  DEFAULT_CLIENT_TIMES,
} from '../../../http1/connections/client-limits.ts';
import type { RequestHead, ResponseHead } from '../../../http1/messages/heads.ts';
import { DEFAULT_MESSAGE_LIMITS } from '../../../http1/messages/limits.ts';
import { RequestReader } from '../../../http1/readers/request-reader.ts';
import { ResponseReader } from '../../../http1/readers/response-reader.ts';
import { bytesOf, corpusCases } from '../../support/http1/corpus.ts';
import { Response } from './called.ts';
import { Served } from './served.ts';
import { wire } from './wire.ts';

const folder = join(import.meta.dirname, '../../../fixtures/http1');
const cases = readdirSync(folder).flatMap((file) => corpusCases(file));
const OWNED = new Set(['connection', 'transfer-encoding']);

function passed(flat: readonly string[]): string[] {
  return flat.filter((_, at) => !OWNED.has(flat[at - (at % 2)]!.toLowerCase()));
}

function requestHeads(bytes: Buffer): RequestHead[] {
  const reader = new RequestReader({ ...DEFAULT_MESSAGE_LIMITS });
  const heads: RequestHead[] = [];
  reader.push(bytes);
  for (let part = reader.next(); part !== undefined; part = reader.next())
    if (part.kind === 'head') heads.push(part.head);
  return heads;
}

function responseHeads(bytes: Buffer, method: string): ResponseHead[] {
  const reader = new ResponseReader(DEFAULT_MESSAGE_LIMITS);
  const heads: ResponseHead[] = [];
  reader.expect(method);
  reader.push(bytes);
  for (let part = reader.next(); part !== undefined; part = reader.next())
    if (part.kind === 'head' || part.kind === 'informational') heads.push(part.head);
  return heads;
}

describe('heads of the corpus', () => {
  it('pass a client', async () => {
    const heads = cases.flatMap((each) => requestHeads(bytesOf(each.in)));
    expect(heads.length).toBeGreaterThan(50);
    for (const head of heads) {
      const { client, server } = wire({});
      let written = Buffer.alloc(0);
      server.on('data', (bytes: Buffer) => {
        written = Buffer.concat([written, bytes]);
      });
      const connection = new ClientConnection(client, {
        limits: DEFAULT_CLIENT_LIMITS,
        times: DEFAULT_CLIENT_TIMES,
        sweep: new Served().clock.sweep,
        onIdle: () => undefined,
        onClosed: () => undefined,
      });
      const { method, path, framing, fields } = head;
      const given = passed(fields.flat);
      // Host is the business of whoever composes a head.
      if (!fields.has('host')) given.push('Host', 'a');
      const request = { method, target: path, version: '1.1', framing, fields: given } as const;
      connection.send(request, new Response());
      await new Promise(setImmediate);
      const [again] = requestHeads(written);
      expect(again).toMatchObject({ method, path, framing });
      expect(passed(again!.fields.flat)).toEqual(given);
      client.destroy();
    }
  });

  it('pass a server', async () => {
    const heads = cases.flatMap(({ in: text, to = ['GET'] }) =>
      responseHeads(bytesOf(text), to[0]!).map((head) => ({ head, method: to[0]! })),
    );
    expect(heads.length).toBeGreaterThan(50);
    for (const { head, method } of heads) {
      const served = new Served();
      const { client, server } = wire({});
      let written = Buffer.alloc(0);
      client.on('data', (bytes: Buffer) => {
        written = Buffer.concat([written, bytes]);
      });
      const { status, reason, fields, framing } = head;
      const given = passed(fields.flat);
      served.onRequest = (exchange) => {
        if (status < 200) exchange.informational(status, reason, given);
        else exchange.respond(status, reason, given, framing);
      };
      served.connections.accept(server);
      client.write(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`);
      await served.until(() => written.length > 0, 'the response');
      const [again] = responseHeads(written, method);
      expect(again).toMatchObject({
        status,
        reason,
        framing: framing.kind === 'until-close' ? { kind: 'chunked' } : framing,
      });
      const kept = status < 200 || status === 204 ? withoutLength(given) : given;
      expect(passed(again!.fields.flat)).toEqual(kept);
      client.destroy();
    }
  });
});

function withoutLength(flat: readonly string[]): string[] {
  return flat.filter((_, at) => flat[at - (at % 2)]!.toLowerCase() !== 'content-length');
}
