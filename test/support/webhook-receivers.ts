// WebhookReceivers: receivers on loopback, each with a manner of its own, which remember every request that they get.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  verifyWebhook,
  WEBHOOK_DELIVERY_HEADER,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
} from '@svc/client';

/** How a receiver answers a request. `isFirst`: its delivery has not come before. */
export type Manner = (response: ServerResponse, isFirst: boolean) => void;

export const MANNERS = {
  healthy: (response) => response.end(),
  /** Fails at first, and answers when it is asked again. */
  flaky: (response, isFirst) => response.writeHead(isFirst ? 503 : 204).end(),
  failing: (response) => response.writeHead(500).end(),
  stalled: () => {},
} satisfies Record<string, Manner>;

/** A request that a receiver has got. */
export interface Post {
  readonly deliveryId: string;
  readonly eventType: string;
  /** The time of its signature: that of the attempt. */
  readonly atMs: number;
  readonly body: string;
  readonly isVerified: boolean;
}

export interface WatchedReceiver {
  readonly url: string;
  readonly posts: readonly Post[];
  /** The secrets of its subscription. */
  readonly secrets: string[];
}

export async function watchedReceiver(manner: Manner): Promise<WatchedReceiver> {
  const posts: Post[] = [];
  const secrets: string[] = [];
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    // The sender is killed in the midst of requests.
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void take(Buffer.concat(chunks)));
    async function take(body: Buffer): Promise<void> {
      const { headers } = request;
      const { kind } = await verifyWebhook({ headers, body, secrets });
      const header = (name: string): string => String(headers[name.toLowerCase()]);
      const deliveryId = header(WEBHOOK_DELIVERY_HEADER);
      posts.push({
        deliveryId,
        eventType: header(WEBHOOK_EVENT_HEADER),
        atMs: Date.parse(header(WEBHOOK_TIMESTAMP_HEADER)),
        body: body.toString(),
        isVerified: kind === 'verified',
      });
      manner(response, !seen.has(deliveryId));
      seen.add(deliveryId);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, posts, secrets };
}
