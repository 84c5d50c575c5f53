// ReceiverUnderTest: a server on loopback that answers each connection as a test says, and a sender that may reach it.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import {
  type AdmittedReceivers,
  ReceiverAddresses,
} from '../../../webhooks/sending/receiver-addresses.ts';
import { SENDER_LIMITS_DEFAULT } from '../../../webhooks/sending/sender-limits.ts';
import { Sender, type SentDelivery } from '../../../webhooks/sending/sender.ts';

const ON_LOOPBACK: AdmittedReceivers = { networks: ['127.0.0.0/8'], domains: ['localhost'] };

export interface ReceiverUnderTest {
  readonly port: number;
  readonly url: string;
  /** What each connection has sent. */
  readonly received: { text: string; isOpen: boolean }[];
}

/** `answer` is called with each request that has its body, and the number of the connection. */
export async function startReceiver(
  answer: (socket: Socket, request: string, connection: number) => void,
): Promise<ReceiverUnderTest> {
  const received: { text: string; isOpen: boolean }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const connection = { text: '', isOpen: true };
    const number = received.push(connection);
    let read = 0;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => (connection.isOpen = false));
    socket.on('data', (bytes: Buffer) => {
      connection.text += bytes.toString('latin1');
      const request = connection.text.slice(read);
      if (!/\r\n\r\n[^]*\}$/.test(request)) return;
      read = connection.text.length;
      answer(socket, request, number);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, received };
}

export interface SenderUnderTestOptions {
  readonly attemptTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly authorities?: readonly string[];
  readonly admitted?: AdmittedReceivers;
  readonly nameServers?: readonly string[];
  readonly nameTimeoutMs?: number;
}

export function startSender({
  admitted = ON_LOOPBACK,
  nameServers = ['127.0.0.1:1'],
  nameTimeoutMs = 5_000,
  authorities,
  ...limits
}: SenderUnderTestOptions = {}): Sender {
  const addresses = new ReceiverAddresses({
    admitted,
    addressesMax: SENDER_LIMITS_DEFAULT.addressesMax,
    nameTimeoutMs,
    nameServers,
  });
  const sender = new Sender({
    addresses,
    limits: { ...SENDER_LIMITS_DEFAULT, ...limits },
    clock: SYSTEM_CLOCK,
    ...(authorities === undefined ? {} : { authorities }),
  });
  onTestFinished(() => sender[Symbol.asyncDispose]());
  return sender;
}

export function deliveryTo(url: string, changed: Partial<SentDelivery> = {}): SentDelivery {
  return {
    url,
    eventType: 'dataset.completed',
    deliveryId: 'dlv_1',
    body: Buffer.from('{"id":"evt_1"}'),
    over: 'body',
    secret: 'secret',
    headers: {},
    ...changed,
  };
}
