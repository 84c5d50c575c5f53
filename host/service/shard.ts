// Shard is the entry point of a shard's thread: it starts the guest of the module, attaches to the journal and serves
// the guest (served-guest.ts). The supervisor starts the thread with ShardSettings. The two exchange the messages of
// shard-messages.ts. Over the life of a shard these are, in this order: run → admitted, serve → listening,
// stop → finished, close → stopped. A shard that cannot start sends `failed` instead.
import assert from 'node:assert/strict';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { CertificateTexts } from '@svc/identity/certificates';
import type { Leases } from '../engine/needs/leases.ts';
import type { Journal } from '../engine/needs/journal.ts';
import { startGuest, type StartedGuest } from '../hosting/start-guest.ts';
import type { ByteBudget } from '@svc/model/byte-budget';
import { CurrentConfiguration } from '@svc/model/configuration';
import { LimitCounters } from '@svc/model/limit-counters';
import { requestBudgets } from '@svc/model/request-budgets';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import { SvcError } from '@svc/kit/svc-error';
import type { FromShard, Peer, ShardSettings, ToShard } from '../shards/shard-messages.ts';
import { HashOwnership } from '../shards/hash-ownership.ts';
import { serveWork, type WorkKind } from '../shards/work-link.ts';
import { ShardNumbers } from '../shards/shard-numbers.ts';
import type { RemotingTls } from '../remoting/remoting-tls.ts';
import type { shardRouting } from '../shards/shard-routing.ts';
import { attachJournal, clusterOf, leasesOf } from '../storage/journal-connection.ts';
import { type Delivery, DELIVERY_AWAY } from './event-delivery.ts';
import { ServicesOnDemand } from './called-services.ts';
import { ServedGuest, type ServedGuestOptions } from './served-guest.ts';
import { ServiceLog } from './service-log.ts';
import type { ShardCluster } from './shard-cluster.ts';
import { ShardTokens } from './shard-tokens.ts';
import type { ServedIdentity } from './shard-identity.ts';
import type { Firing } from '../engine/firing.ts';
import type { FiringAnswer } from '../timers/firing-answer.ts';
import type { ViewFinder } from '../views/view-finder.ts';

type Resources = Extract<ToShard, { kind: 'serve' }>;

const settings = workerData as ShardSettings;
const supervisor = parentPort!;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const send = (message: FromShard) => supervisor.postMessage(message);
const counters = new LimitCounters(settings.counters);
const log = new ServiceLog({
  limits: settings.sections.log,
  counters,
  send: (entry) => send({ kind: 'log', entry }),
});

/** Other shards that were announced before the router existed, and are connected when it does. */
const earlyPeers: Peer[] = [];
let connectPeer = (peer: Peer): void => void earlyPeers.push(peer);
/** Does nothing before the router exists. */
let peerAway = (_index: number, _pauseMs: number): void => {};
/** Does nothing before the shard has certificates: `serve` brings those that are in use then. */
let renewCertificates = (_texts: CertificateTexts): void => {};
/** Without values before the shard serves: no handler runs before. */
const configuration = new CurrentConfiguration();
/** Undefined if the service has one node, and until the shard serves. */
let cluster: ShardCluster | undefined;
/** Undefined until the shard serves; the supervisor sends no questions before. */
let served: ServedGuest | undefined;

/** Undefined: nothing verifies tokens. */
const tokens =
  settings.verifiesTokens === true
    ? new ShardTokens(
        SYSTEM_CLOCK,
        settings.sections.auth.cachedTokensMax,
        settings.sections.http.requestsInFlightMax,
      )
    : undefined;

supervisor.on('message', (message: ToShard) => {
  switch (message.kind) {
    case 'certificates':
      return renewCertificates(message.texts);
    case 'configuration':
      configuration.texts = message.texts;
      return undefined;
    case 'peer':
      return connectPeer(message.peer);
    case 'peer-away':
      return peerAway(message.index, message.pauseMs);
    case 'nodes':
      return cluster?.setNodes(message.nodes);
    case 'owners-changed':
      return cluster?.announceOwners();
    case 'work':
      return work(message.work, message.port);
    case 'ask': {
      const { number, question } = message;
      void served?.answers
        .answer(question)
        .then((answer) => send({ kind: 'answer', number, answer }));
      return undefined;
    }
    case 'are-you-alive':
      log.written(message.loggedBytes);
      log.report();
      return send({ kind: 'alive' });
    case 'run':
    case 'serve':
    case 'stop':
    case 'close':
      return undefined;
  }
});

/** Serves the work that arrives on a link, or asks for it to be done there. */
function work(kind: WorkKind, port: MessagePort): void {
  const guest = served;
  if (guest === undefined) return port.close();
  switch (kind) {
    case 'firings':
      return serveWork(
        port,
        (firing: Firing) => guest.fire(firing),
        (failure): FiringAnswer => ({ outcome: 'unavailable', reason: String(failure) }),
      );
    case 'deliveries':
      return serveWork(
        port,
        (delivery: Delivery) => guest.deliver(delivery),
        (failure) => ({ ...DELIVERY_AWAY, failure: String(failure) }),
      );
    case 'tokens':
      return tokens === undefined ? port.close() : tokens.connect(port);
  }
}

async function run(): Promise<void> {
  const { source } = await nextMessage('run');
  const guest = await startGuest(
    source,
    settings.sections,
    (line) => log.write(line.level, line.message, { from: line.source }),
    { shard: settings.index, shards: settings.count },
  );
  const serveRequested = nextMessage('serve');
  send({ kind: 'admitted', descriptor: guest.descriptor });
  // The code of the HTTP server is the largest part of the host's, so it is loaded while the journal is opened.
  const httpServer = import('../http/http-server.ts');
  // So is that of its TLS, which a service without an identity does not load.
  if (settings.identity !== undefined) void import('./shard-identity.ts');
  const resources = await serveRequested;
  configuration.texts = resources.configuration;
  const { idempotencyRetentionMs } = settings.sections.engine;
  const journal = await attachJournal(resources.journal, idempotencyRetentionMs);
  const leases = leasesOf(resources.journal);
  const views = await viewFinder(guest, journal, resources);
  served = new ServedGuest(
    await servedOptions({ guest, journal, leases, views, resources, httpServer }),
  );
  const stopRequested = nextMessage('stop');
  const closeRequested = nextMessage('close');
  const isShared = settings.count > 1;
  const address = { ...settings.address, isShared };
  if (settings.remoting !== undefined) await cluster?.listen({ ...settings.remoting, isShared });
  send({
    kind: 'listening',
    address: settings.http ? await served.listen(address) : undefined,
  });

  const { graceMs } = await stopRequested;
  const { hasCut } = await served.stop(graceMs);
  send({ kind: 'finished', hasCut });
  await closeRequested;
  await cluster?.close();
  await served.close();
  tokens?.close();
  await journal.close();
  await guest.close();
  log.report();
  send({ kind: 'stopped' });
}

/** Returns what answers the queries of the module's views; undefined if it has none. */
async function viewFinder(
  { descriptor, fingerprint }: StartedGuest,
  { positions }: Journal,
  { journal, views: shared }: Resources,
): Promise<ViewFinder | undefined> {
  if (shared === undefined) return undefined;
  // A module without views does not wait for this code.
  const [{ ViewFinder: Finder }, { declaredViews }, { openViews }] = await Promise.all([
    import('../views/view-finder.ts'),
    import('../views/view-definitions.ts'),
    import('../storage/follower-connection.ts'),
  ]);
  const { views: limits } = settings.sections;
  return new Finder({
    descriptor,
    views: declaredViews(descriptor, fingerprint),
    shared,
    store: await openViews(journal, limits),
    positions,
    waitMs: limits.waitMs,
  });
}

interface ServedParts {
  readonly guest: StartedGuest;
  readonly journal: Journal;
  readonly leases: Leases | undefined;
  readonly views: ViewFinder | undefined;
  readonly resources: Resources;
  readonly httpServer: Promise<typeof import('../http/http-server.ts')>;
}

async function servedOptions({
  guest,
  journal,
  leases,
  views,
  resources,
  httpServer,
}: ServedParts): Promise<ServedGuestOptions> {
  const { peers, numbers: shared, certificates, limits: buckets } = resources;
  const { index, count, sections, deployed } = settings;
  const numbers = new ShardNumbers(guest.descriptor, sections.observability.ringCapacity, shared);
  const budgets = requestBudgets(sections.http, settings.budgets, index);
  const identity = await servedIdentity(certificates);
  const services = calledServices(identity);
  const limits = { shared: buckets, onCrowded: () => counters.count('limit-buckets-full') };
  const own = { log, numbers, budgets, limits, index, services, configuration, tls: identity?.tls };
  const options = { guest, journal, leases, deployed, sections, views, tokens, ...own };
  const { createHttpServer: createServer } = await httpServer;
  const { nodeCalls: calls } = numbers;
  const tls = await remotingTls(identity);
  cluster = await shardCluster({ guest, journal, resources, calls, tls, unsent: budgets.unsent });
  if (count === 1 && cluster === undefined) return { ...options, createServer };
  const { shardRouting: routing } = await import('../shards/shard-routing.ts');
  const { unsent } = budgets;
  const { handlerTable } = numbers;
  const ownership = cluster?.ownership ?? new HashOwnership(count);
  const others = { ownership, cluster: cluster?.routing };
  const route: ServedGuestOptions['route'] = (parts) => {
    const made = connected(
      routing({ ...parts, ...others, index, faults: log.faults, handlerTable, unsent }),
      peers,
    );
    cluster?.serve(parts.engine, made.router);
    return made;
  };
  return { ...options, createServer, route };
}

interface ClusterParts extends Pick<ServedParts, 'guest' | 'journal' | 'resources'> {
  readonly unsent: ByteBudget;
  readonly tls: RemotingTls | undefined;
  readonly calls: ShardNumbers['nodeCalls'];
}

/** Returns the cluster of the service; undefined if the service has one node. */
async function shardCluster({
  guest: { descriptor, fingerprint },
  journal,
  resources,
  unsent,
  tls,
  calls,
}: ClusterParts): Promise<ShardCluster | undefined> {
  const slices = settings.remoting && clusterOf(resources.journal, journal);
  if (slices === undefined) return undefined;
  // A service with one node does not load this code.
  const { ShardCluster: Cluster } = await import('./shard-cluster.ts');
  return new Cluster({
    slices,
    descriptor,
    // A guest that is not stored has none, and no journal that others use.
    fingerprint: fingerprint ?? '',
    shards: settings.count,
    faults: log.faults,
    unsent,
    tls,
    calls,
    log: ({ level, message, fields }) => log.write(level, message, fields),
    onUnreachable: (nodes) => send({ kind: 'unreachable', nodes }),
  });
}

/** Returns TLS of the connections to other nodes; undefined if they are plain. */
async function remotingTls(own: ServedIdentity | undefined): Promise<RemotingTls | undefined> {
  if (settings.remoting?.tls !== true) return undefined;
  const { identity } = settings;
  assert(own !== undefined && identity !== undefined, 'the settings demand an identity');
  // Nodes without TLS do not load this code.
  const { RemotingTls: Tls } = await import('../remoting/remoting-tls.ts');
  return new Tls(own.certificates, identity.rules);
}

/** Returns the identity of the shard, which new certificates reach; undefined if the service listens without TLS. */
async function servedIdentity(
  texts: CertificateTexts | undefined,
): Promise<ServedIdentity | undefined> {
  const { identity } = settings;
  if (identity === undefined || texts === undefined) return undefined;
  // A service without TLS does not wait for this code.
  const { shardIdentity } = await import('./shard-identity.ts');
  const own = shardIdentity(identity, texts);
  renewCertificates = own.renew;
  return own;
}

/** Returns the other services, which the handlers call. */
function calledServices(own: ServedIdentity | undefined): ServicesOnDemand {
  const { sections, network, identity } = settings;
  return new ServicesOnDemand({
    settings: sections.calls,
    network:
      network?.kind === 'installation'
        ? own &&
          identity && {
            ...network,
            project: identity.project,
            trustDomain: identity.rules.trustDomain,
            certificates: own.certificates,
          }
        : network,
    log,
  });
}

/** Connects the router to the other shards, including those that start later. */
function connected(
  routing: ReturnType<typeof shardRouting>,
  peers: readonly Peer[],
): ReturnType<typeof shardRouting> {
  const { router } = routing;
  connectPeer = (peer) => router.connect(peer);
  peerAway = (index, pauseMs) => router.away(index, pauseMs);
  for (const peer of [...peers, ...earlyPeers]) router.connect(peer);
  return routing;
}

/** Resolves with the supervisor's next message of this kind. */
async function nextMessage<Kind extends ToShard['kind']>(
  kind: Kind,
): Promise<Extract<ToShard, { kind: Kind }>> {
  const { promise, resolve } = Promise.withResolvers<Extract<ToShard, { kind: Kind }>>();
  const listen = (message: ToShard) => {
    if (message.kind !== kind) return;
    supervisor.off('message', listen);
    resolve(message as Extract<ToShard, { kind: Kind }>);
  };
  supervisor.on('message', listen);
  return promise;
}

try {
  await run();
} catch (error) {
  if (!(error instanceof SvcError)) throw error;
  const frames = log.faults.frames(error);
  send({ kind: 'failed', code: error.code, message: error.message, frames });
}
