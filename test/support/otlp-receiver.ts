// A receiver of OTLP over HTTP, on a real socket: keeps what it is sent, and answers as it is told to.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  /** 1: internal, 2: server. */
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  /** 0: unset, 2: an error. */
  readonly status: { readonly code: number; readonly message?: string };
}

type Attributes = readonly {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}[];

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly ReceivedSpan[];
    }[];
  }[];
}

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly spans: readonly ReceivedSpan[];
}

/** `answer`: left out, everything is taken. */
export async function otlpReceiver(
  answer = (response: ServerResponse): void => void response.end('{}'),
) {
  const received: Received[] = [];
  const looks = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as Export;
    for (const { resource, scopeSpans } of resourceSpans)
      received.push({
        path: request.url!,
        headers: request.headers,
        resource: plain(resource.attributes),
        spans: scopeSpans.flatMap(({ spans }) => spans),
      });
    answer(response);
    for (const look of looks) look();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const spans = () => received.flatMap((one) => one.spans);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    spans,
    /** Resolves once so many spans have come. */
    has: async (count: number): Promise<readonly ReceivedSpan[]> => {
      const enough = Promise.withResolvers<void>();
      const look = () => spans().length >= count && enough.resolve();
      looks.add(look);
      look();
      await enough.promise;
      return spans();
    },
  };
}

/** By name, without the words that tell a value's type. */
export function plain(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
