// SimulatedNode is a run of the runtime in a process of virtual time: the production code of the journal, the engine, the router and the
// remoting, as a service with one shard joins them. Only the connection to the database and the sockets are models.
import { createEngine, type EntityEngine } from '../../../host/engine/entity-engine.ts';
import { EventLoopBudget } from '../../../host/http/requests/event-loop-budget.ts';
import { ShardCluster } from '../../../host/service/shard-cluster.ts';
import { ShardRouter } from '../../../host/shards/shard-router.ts';
import { NODE_CALLS } from '../../../host/shards/recorder/node-calls.ts';
import { JournalSeries } from '../../../host/storage/journal-series.ts';
import {
  attachPostgresJournal,
  type ClusterJournal,
} from '../../../host/storage/postgres/attached-postgres.ts';
import { NodeLease, postgresLeases } from '../../../host/storage/postgres/nodes/node-lease.ts';
import { SliceTable } from '../../../host/storage/postgres/nodes/slice-table.ts';
import { OpenedPostgres } from '../../../host/storage/postgres/opened-postgres.ts';
import type { PostgresConnection } from '../../../host/storage/postgres/postgres-connection.ts';
import { systemClock, systemDigest } from '../../../host/system.ts';
import type { SvcError } from '../../../kit/svc-error.ts';
import type { Reply, Refusal } from '../../../model/call.ts';
import type { EntityRef } from '../../../model/entity.ts';
import { HandlerTable } from '../../../model/handler-table.ts';
import { SharedSeries } from '../../../model/shared-series.ts';
import { SLICE_COUNT } from '../../../model/slice.ts';
import { TIMER_LIMITS_DEFAULT } from '../../../model/timer-limits.ts';
import { ampleBudget } from '../../support/kept-bytes.ts';
import { SHOWN } from '../../support/modelled-database/modelled-session.ts';
import type { VirtualProcess } from '../../support/virtual/virtual-process.ts';
import { DESCRIPTOR, SimulatedGuest } from './simulated-guest.ts';

const PORT = 17_355;
const LIMITS = {
  // Entities leave memory soon, and come back by snapshots.
  idleTimeoutMs: 400,
  snapshotIntervalEvents: 3,
  purityCheckInterval: 0,
  purityRefoldInterval: 1,
};
const PASSIVATION_MS = 150;
/** Time for calls to be answered once the node has handed over everything, in milliseconds. */
const STOP_MS = 3_000;
const STOP_LOOK_MS = 20;
/** Time for a node that leaves to hand over, in milliseconds. */
const LEAVE_MS = 15_000;

export interface NodeReports {
  /** Called with a fault of an entity, which none has in a simulation. */
  readonly fault: (entity: EntityRef, fault: unknown) => void;
  /** Called when an append has failed because its slice has moved. */
  readonly moved: (entity: EntityRef) => void;
  /** Called when the node cannot use its journal any more. */
  readonly ended: (failure: unknown) => void;
}

export class SimulatedNode {
  readonly process: VirtualProcess;
  readonly #fingerprint: string;
  readonly #isSlow: boolean;
  readonly #reports: NodeReports;
  readonly #unanswered = new Set<object>();
  #opened: OpenedPostgres | undefined;
  #journal: ClusterJournal | undefined;
  #connection: PostgresConnection | undefined;
  #engine: EntityEngine | undefined;
  #cluster: ShardCluster | undefined;
  #router: ShardRouter | undefined;
  #state: 'starting' | 'serving' | 'leaving' = 'starting';

  /** `isSlow`: calls of the guest take time. */
  constructor(process: VirtualProcess, fingerprint: string, isSlow: boolean, reports: NodeReports) {
    this.process = process;
    this.#fingerprint = fingerprint;
    this.#isSlow = isSlow;
    this.#reports = reports;
  }

  get name(): string {
    return this.process.name;
  }

  /** Whether it takes calls of callers. */
  get isServing(): boolean {
    return this.#state === 'serving' && !this.process.isDead;
  }

  /** Whether it is a member whose lease is held. */
  get isMember(): boolean {
    const { process } = this;
    const connection = this.#connection;
    if (connection === undefined || process.isDead || process.isStopped) return false;
    return process.within(
      () => new NodeLease(connection.lease).isValid && new SliceTable(connection.owners).self !== 0,
    );
  }

  /** Returns whether this node believes that it may answer for an entity now. */
  holds(entity: EntityRef): boolean {
    const { process } = this;
    const connection = this.#connection;
    if (connection === undefined || process.isDead || process.isStopped) return false;
    return process.within(() => postgresLeases(connection).epochOf(entity) !== undefined);
  }

  /** Starts within the process. Rejects with SvcError, as a start does that the operator repeats. */
  async start(): Promise<void> {
    const { process } = this;
    const opened = await OpenedPostgres.open(
      {
        id: 'model',
        location: { kind: 'postgres', source: { kind: 'environment', variable: 'MODEL' } },
        shown: SHOWN,
      },
      {
        limits: { bytesMax: 0, closeMs: 3_000 },
        timerLimits: TIMER_LIMITS_DEFAULT,
        series: new JournalSeries(),
        fingerprint: this.#fingerprint,
        isExclusive: false,
      },
    );
    this.#opened = opened;
    void opened.failure.then((failure) => this.#reports.ended(failure));
    opened.noteModule({
      fingerprint: this.#fingerprint,
      descriptor: '{}',
      timeMs: systemClock.nowMs(),
    });
    const connection = opened.connect([0, SLICE_COUNT]);
    this.#connection = connection;
    this.#journal = attachPostgresJournal(connection);
    this.#join(this.#watched(this.#journal), connection);
    await this.#cluster!.listen({ host: process.name, port: PORT });
    const nodesChanged = (): void => this.#cluster!.setNodes(opened.cluster.nodes);
    opened.cluster.onNodes(nodesChanged);
    opened.cluster.onOwners(() => this.#cluster!.announceOwners());
    await opened.cluster.serve({ host: process.name, port: PORT });
    nodesChanged();
    setInterval(() => void this.#engine!.passivate(), PASSIVATION_MS);
    this.#state = 'serving';
  }

  /** Returns the journal for the engine, with an eye on its appends. */
  #watched(journal: ClusterJournal): ClusterJournal {
    const append: ClusterJournal['append'] = (entity, records, settled, beside) => {
      const watched = (failure?: SvcError): void => {
        if (failure?.code === 'SVC_ENTITY_MOVED') this.#reports.moved(entity);
        settled(failure);
      };
      journal.append(entity, records, watched, beside);
    };
    return new Proxy(journal, {
      get: (target, name) => {
        if (name === 'append') return append;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  /** Makes the parts that a shard has. */
  #join(journal: ClusterJournal, connection: PostgresConnection): void {
    const { process } = this;
    const guest = new SimulatedGuest(this.#fingerprint, this.#isSlow ? process : undefined);
    const eventLoop = new EventLoopBudget({
      nowMs: () => performance.now(),
      nextTurn: (callback) => void setImmediate(callback),
      afterPromises: (callback) => queueMicrotask(() => globalThis.process.nextTick(callback)),
    });
    const engine = createEngine({
      guest,
      journal,
      clock: systemClock,
      random: { next64: () => BigInt(process.random.below(2 ** 31)) },
      digest: systemDigest,
      eventLoop,
      faultLog: (entity, _handler, fault) => this.#reports.fault(entity, fault),
      leases: postgresLeases(connection),
      limits: LIMITS,
    });
    const faults = { passedOn: () => false, isKnown: () => undefined };
    const unsent = ampleBudget();
    const cluster = new ShardCluster({
      slices: journal.cluster,
      descriptor: DESCRIPTOR,
      fingerprint: this.#fingerprint,
      shards: 1,
      faults,
      tls: undefined,
      unsent,
      calls: new SharedSeries(NODE_CALLS),
      log: () => undefined,
      onUnreachable: () => undefined,
    });
    const router = new ShardRouter({
      index: 0,
      ownership: cluster.ownership,
      engine,
      eventLoop,
      faults,
      handlerTable: new HandlerTable(DESCRIPTOR),
      unsent,
      serveRequest: () => {
        throw new Error('nobody sends requests');
      },
      cluster: cluster.routing,
    });
    cluster.serve(engine, router);
    this.#engine = engine;
    this.#cluster = cluster;
    this.#router = router;
  }

  /** Calls an entity, wherever it is, within the process. */
  async call(
    target: EntityRef,
    name: string,
    input: number,
    key: string | undefined,
  ): Promise<Reply | Refusal> {
    const call = {};
    this.#unanswered.add(call);
    try {
      return await this.#router!.call(target, name, String(input), [], key);
    } finally {
      this.#unanswered.delete(call);
    }
  }

  /** Hands everything over and ends, within the process, as after SIGTERM. */
  async leave(): Promise<void> {
    this.#state = 'leaving';
    await this.#opened!.cluster.leave(LEAVE_MS);
    const untilMs = performance.now() + STOP_MS;
    while (this.#unanswered.size > 0 && performance.now() < untilMs)
      await new Promise((resolve) => setTimeout(resolve, STOP_LOOK_MS));
    await this.#cluster!.close();
    await this.#engine!.close();
    await this.#journal!.close();
    await this.#opened!.close();
    this.process.kill();
  }
}
