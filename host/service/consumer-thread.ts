// ConsumerThread is the entry point of the thread that delivers events to the consumers of a module. It runs no code of a
// module: it reads the journal through connections of its own, and sends each event to the shard of the event's entity. The
// main thread writes how far the consumers are.
import { parentPort, workerData } from 'node:worker_threads';
import type { ConsumerWriter } from '../engine/needs/consumers.ts';
import { ConsumerSeries } from '@svc/model/consumer-series';
import { HashOwnership } from '../shards/hash-ownership.ts';
import { WorkLink } from '../shards/work-link.ts';
import { openConsumerState, openFeed } from '../storage/follower-connection.ts';
import { SvcError } from '@svc/kit/svc-error';
import type {
  ConsumerOrder,
  ConsumerThreadData,
  FromConsumerThread,
  SentFailure,
  ToConsumerThread,
} from './consumer-messages.ts';
import { type Delivery, type DeliveryAnswer, DELIVERY_AWAY } from './event-delivery.ts';
import { ServedConsumers } from './served-consumers.ts';

const { connection, consumers, settings, logLimits, series, shards } =
  workerData as ConsumerThreadData;
const main = parentPort!;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const send = (message: FromConsumerThread) => main.postMessage(message);

const AWAY = Promise.resolve(DELIVERY_AWAY);
const ownership = new HashOwnership(shards);
/** Indexed by shard. */
const links = new Map<number, WorkLink<Delivery, DeliveryAnswer>>();
const feed = await openFeed(connection);
const state = await openConsumerState(connection);

type Settled = Extract<ToConsumerThread, { readonly kind: 'settled' }>;
/** The settlements that the main thread has not answered, by their numbers. */
const settling = new Map<number, (answer: Settled) => void>();
let lastSettlement = 0;

async function ask(message: (number: number) => FromConsumerThread): Promise<void> {
  const number = ++lastSettlement;
  const { failure } = await new Promise<Settled>((resolve) => {
    settling.set(number, resolve);
    send(message(number));
  });
  if (failure !== undefined) throw new SvcError(failure.code, failure.message);
}

const writer: ConsumerWriter = {
  settleConsumer: (consumer, settlement) =>
    ask((number) => ({ kind: 'settle', number, consumer, settlement })),
  concluded: (consumer) => ask((number) => ({ kind: 'conclude', number, consumer })),
};

const served = new ServedConsumers({
  consumers,
  settings,
  feed,
  reader: state,
  writer,
  journal: state,
  deliver(delivery) {
    const { component, id } = delivery.event.entity;
    return links.get(ownership.ownerOf(component, id))?.send(delivery) ?? AWAY;
  },
  seriesOf: (id) => new ConsumerSeries(series[id]),
  log: (entry) => send({ kind: 'log', entry }),
  logLimits,
});

main.on('message', (message: ToConsumerThread) => {
  switch (message.kind) {
    case 'shard':
      links.get(message.index)?.close();
      links.set(message.index, new WorkLink(message.port, DELIVERY_AWAY));
      return undefined;
    case 'settled':
      settling.get(message.number)?.(message);
      settling.delete(message.number);
      return undefined;
    case 'order':
      return void answer(message.number, message.order);
    case 'renew':
      return served.renew();
    case 'stop':
      return void stop(message.graceMs);
  }
});

async function answer(number: number, order: ConsumerOrder): Promise<void> {
  const answered = { kind: 'carried-out', number } as const;
  try {
    send({ ...answered, isDone: await carriedOut(order), failure: undefined });
  } catch (error) {
    send({ ...answered, isDone: undefined, failure: sentFailure(error) });
  }
}

function sentFailure(error: unknown): SentFailure {
  if (!(error instanceof SvcError))
    return { code: 'SVC_JOURNAL_UNAVAILABLE', message: String(error) };
  const { code, message } = error;
  return { code, message };
}

function carriedOut(order: ConsumerOrder): Promise<boolean> {
  const { consumer } = order;
  switch (order.kind) {
    case 'retry':
      return served.retry(consumer, order.entity);
    case 'retry-some':
      return served.retrySome(consumer);
    case 'skip':
      return served.skip(consumer, order.entity, order.seq, order.reason);
  }
}

async function stop(graceMs: number): Promise<void> {
  await served.stop(graceMs);
  for (const link of links.values()) link.close();
  feed.close();
  state.close();
  main.close();
}

served.start();
