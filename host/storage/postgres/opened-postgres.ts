// OpenedPostgres is the journal in PostgreSQL for the thread that opens it: it makes this run of the runtime a node that owns some or
// all slices, and does what belongs to no entity. Threads that use the journal attach to it (attached-postgres.ts).
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { MessageChannel } from 'node:worker_threads';
import type {
  ConsumerSettlement,
  ConsumerWriter,
  StoredConsumer,
} from '../../engine/needs/consumers.ts';
import type { Position } from '../../engine/needs/feed.ts';
import type { EntityRef } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import { Occurrences } from '../../schedule/occurrences.ts';
import type { TimerLimits } from '@svc/model/timer-limits';
import { RUNTIME_VERSION } from '../../runtime-version.ts';
import type {
  JournalContents,
  StoredEventType,
  WritingModule as NotedModule,
} from '../journal-contents.ts';
import type { ClusterMembership } from '../cluster-nodes.ts';
import type { JournalInDatabase } from '../journal-location.ts';
import type { JournalLimits } from '../journal-limits.ts';
import type { LaneAdministration } from '../lane-administration.ts';
import type { JournalSeries } from '../journal-series.ts';
import { TimerAlarm } from '../timer-alarm.ts';
import type { ServiceSchedule, TimerAdministration } from '../timer-administration.ts';
import { AnsweringSession } from './answering-session.ts';
import { connectDatabase } from './connect-database.ts';
import { CutConnections } from './cut-connections.ts';
import type { DatabaseSession } from './database-session.ts';
import { DeclaredModule } from './declared-module.ts';
import { ConsumerSettlements } from './consumers/consumer-settlements.ts';
import { StoredLaneChanges } from './consumers/stored-lane-changes.ts';
import { ExclusiveSession } from './exclusive-session.ts';
import { HeadWatch } from './feed/head-watch.ts';
import { SliceHeads } from './feed/slice-heads.ts';
import { SlicePositions } from './feed/slice-positions.ts';
import { FollowingSession } from './following-session.ts';
import { JournalRoom } from './journal-room.ts';
import { journalFailure } from './journal-failure.ts';
import { journalBytes } from './journal-size.ts';
import { migrateJournal } from './migration.ts';
import { nodeFence } from './nodes/node-fence.ts';
import { NodeKeeper } from './nodes/node-keeper.ts';
import { ClusterMember } from './nodes/cluster-member.ts';
import { IDLE_IN_TRANSACTION_MS, noteHistory } from './nodes/cluster-transaction.ts';
import { LEASE_MS, NodeLease } from './nodes/node-lease.ts';
import { SliceUsers, within } from './nodes/slice-users.ts';
import { NodeMembership } from './nodes/node-membership.ts';
import type { AdmitModule } from './nodes/node-modules.ts';
import { SliceTable } from './nodes/slice-table.ts';
import type { WithSession } from './operator-change.ts';
import type { PostgresConnection, PostgresFollowing, UserReport } from './postgres-connection.ts';
import { headSetBack } from './slice-ends.ts';
import { PostgresTimerAdministration } from './timers/timer-administration.ts';
import { WritingModule } from './writing-module.ts';

/** How often the size of the journal is measured, in milliseconds. */
const MEASURE_MS = 10_000;

/** Reads all types of events. */
export const EVENT_TYPES = {
  text: 'SELECT component, manifest FROM svc.event_type ORDER BY component, manifest',
};
const WORK = { text: 'SELECT EXISTS (SELECT FROM svc.timer), work FROM svc.cluster' };

/**
 * Opens the journal in a database, whose tables are made if they are missing, and takes the slices that are for this node. Rejects
 * with SVC_DATA_IN_USE while a runtime uses it that shares it with no other one, or runtimes run too many modules, as `admit` does,
 * with SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT, SVC_JOURNAL_REGRESSED, SVC_DATABASE_UNUSABLE, SVC_DATABASE_URL_INVALID and
 * SVC_JOURNAL_UNAVAILABLE.
 */
export async function openPostgresJournal(
  location: JournalInDatabase,
  settings: PostgresWriterSettings,
): Promise<OpenedPostgres> {
  const session = await connectDatabase(location.source, {
    ...(settings.warn && { warn: settings.warn }),
  });
  try {
    const { id } = await migrateJournal(session);
    return await OpenedPostgres.open({ id, location, shown: session.shown }, settings);
  } finally {
    await session.close();
  }
}

export interface PostgresWriterSettings {
  readonly limits: JournalLimits;
  readonly timerLimits: TimerLimits;
  /** Receives the counts of the journals that write. */
  readonly series: JournalSeries;
  /** Fingerprint of the module that is going to use the journal. */
  readonly fingerprint: string;
  /** Whether no other node may use the journal meanwhile. */
  readonly isExclusive: boolean;
  /** Compares the module with one that other nodes run. Absent: the journal is not used beside another module. */
  readonly admit?: AdmitModule | undefined;
  /** Receives what an operator should know of a database that can be used, as a sentence. */
  readonly warn?: (message: string) => void;
}

/** A journal whose tables are made. */
interface FoundJournal {
  readonly id: string;
  readonly location: JournalInDatabase;
  /** Name of the database in messages. */
  readonly shown: string;
}

export class OpenedPostgres implements JournalContents, TimerAdministration, ConsumerWriter {
  readonly location: JournalInDatabase;
  readonly lanes: LaneAdministration;
  readonly #node = randomUUID();
  readonly #journal: FoundJournal;
  readonly #settings: PostgresWriterSettings;
  readonly #heads = new SliceHeads();
  readonly #alarm = new TimerAlarm();
  readonly #module = new WritingModule();
  readonly #lease = new NodeLease();
  readonly #table = new SliceTable();
  readonly #room = new JournalRoom();
  readonly #users = new SliceUsers((report) => this.#onReport(report));
  readonly #keeper: NodeKeeper;
  readonly #member: ClusterMember;
  readonly #session: ExclusiveSession;
  readonly #timers: PostgresTimerAdministration;
  readonly #declared: DeclaredModule;
  readonly #consumers: ConsumerSettlements;
  readonly #connections: CutConnections;
  readonly #failure = Promise.withResolvers<SvcError>();
  #measuring: NodeJS.Timeout | undefined;
  #watch: HeadWatch | undefined;
  #hasTimers = false;
  #closed: Promise<void> | undefined;

  /** Joins a journal whose tables are made. Rejects as `openPostgresJournal` does. */
  static async open(
    journal: FoundJournal,
    settings: PostgresWriterSettings,
  ): Promise<OpenedPostgres> {
    const opened = new OpenedPostgres(journal, settings);
    try {
      await opened.#keeper.join();
      await opened.#member.begin();
      await opened.#begin();
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  private constructor(journal: FoundJournal, settings: PostgresWriterSettings) {
    const { location, shown } = journal;
    const { source } = location;
    const connect = async () => new AnsweringSession(await this.#connections.connect());
    const fence = nodeFence(() => this.#table.self, shown);
    const following = () =>
      new FollowingSession({ connect, shown, clock: { monotonicMs: () => performance.now() } });
    this.location = location;
    this.#journal = journal;
    this.#settings = settings;
    this.#connections = new CutConnections((options) => connectDatabase(source, options));
    const membership = new NodeMembership(
      {
        uid: this.#node,
        machine: hostname(),
        version: RUNTIME_VERSION,
        fingerprint: settings.fingerprint,
        isExclusive: settings.isExclusive,
        admit: settings.admit,
      },
      shown,
    );
    const node = { membership, lease: this.#lease, table: this.#table, shown };
    this.#keeper = new NodeKeeper({
      ...node,
      connect,
      onRenewed: (renewal) => this.#member.renewed(renewal),
      onReturned: () => this.#member.look(),
    });
    this.#member = new ClusterMember({
      ...node,
      // Others wait while this node holds the lock of the cluster, so it must not stop there.
      connect: () => this.#connections.connect({ idleInTransactionMs: IDLE_IN_TRANSACTION_MS }),
      prepare: noteHistory,
      id: journal.id,
      heads: this.#heads,
      users: this.#users,
    });
    void this.#keeper.lost.then(this.#failure.resolve);
    this.#session = new ExclusiveSession(following());
    this.#consumers = new ConsumerSettlements(following(), fence);
    const withSession: WithSession = (use) => this.#session.use(use);
    this.lanes = new StoredLaneChanges(withSession);
    this.#timers = new PostgresTimerAdministration({
      withSession,
      rules: { limits: settings.timerLimits, occurrences: new Occurrences() },
      fence,
      onStored: (earliestMs) => this.#alarm.stored(earliestMs),
    });
    this.#declared = new DeclaredModule({
      fingerprint: settings.fingerprint,
      cluster: this.#member,
      withSession: (use) => this.#use(use),
      timers: this.#timers,
      number: this.#module,
      warn: settings.warn,
    });
  }

  get failure(): Promise<SvcError> {
    return this.#failure.promise;
  }

  /** Why nothing can be stored or answered now, as a sentence. It passes once the database can be reached again. */
  get problem(): string | undefined {
    return this.#keeper.problem;
  }

  get cluster(): ClusterMembership {
    return this.#member;
  }

  get followerConnection(): PostgresFollowing {
    const { id, location, shown } = this.#journal;
    return {
      kind: 'postgres',
      source: location.source,
      shown,
      journal: id,
      node: this.#node,
      heads: this.#heads.shared,
      owners: this.#table.shared,
    };
  }

  connectConsumers(): PostgresFollowing {
    this.#consumers.forget();
    return { ...this.followerConnection, consumed: this.#table.own() };
  }

  get alarm(): SharedArrayBuffer {
    return this.#alarm.shared;
  }

  async timersExist(): Promise<void> {
    if (!this.#hasTimers) await this.#alarm.changed(0);
  }

  lastPosition(): Position {
    return new SlicePositions(this.#heads).end();
  }

  connect(slices: PostgresConnection['slices']): PostgresConnection {
    const { port1, port2 } = new MessageChannel();
    this.#users.add(port2, slices);
    return {
      ...this.followerConnection,
      slices,
      alarm: this.alarm,
      timerLimits: this.#settings.timerLimits,
      module: this.#module.shared,
      lease: this.#lease.shared,
      room: this.#room.shared,
      uncertainMs: LEASE_MS,
      ports: [port1],
    };
  }

  nameControlSocket(path: string): void {
    // Without the name, tools of this machine do not find the host.
    void this.#member.nameControl(path).catch(() => undefined);
  }

  async eventTypes(): Promise<readonly StoredEventType[]> {
    const rows = await this.#use((session) => session.query(EVENT_TYPES));
    return rows.map(([component, manifest]) => ({
      component: component as string,
      manifest: manifest as string,
    }));
  }

  noteModule(module: NotedModule): void {
    this.#declared.note(module);
  }

  /** Stores the schedules once this node's module is the newest. */
  reconcileSchedules(schedules: readonly ServiceSchedule[], nowMs: number): Promise<void> {
    return this.#declared.reconcile(schedules, nowMs);
  }

  cancelTimer(owner: EntityRef | undefined, name: string): Promise<boolean> {
    return this.#timers.cancelTimer(owner, name);
  }

  retryTimer(owner: EntityRef | undefined, name: string, nowMs: number): Promise<boolean> {
    return this.#timers.retryTimer(owner, name, nowMs);
  }

  beginConsumer(consumer: Pick<StoredConsumer, 'id' | 'start'>, position: Position): Promise<void> {
    return this.#consumers.beginConsumer(consumer, position);
  }

  settleConsumer(
    consumer: Pick<StoredConsumer, 'id' | 'start'>,
    settlement: ConsumerSettlement,
  ): Promise<void> {
    return this.#consumers.settleConsumer(consumer, settlement);
  }

  concluded(consumer: string): Promise<void> {
    return this.#consumers.concluded(consumer);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const ended = this.#end();
    await within(ended, this.#settings.limits.closeMs);
    // A database that does not answer keeps nobody waiting. If it has answered, no connection is open.
    this.#connections.cut();
    await ended;
  }

  async #end(): Promise<void> {
    clearInterval(this.#measuring);
    this.#watch?.stop();
    this.#declared.close();
    await Promise.all([this.#session.close(), this.#consumers.close()]);
    this.#users.close();
    await this.#keeper.close();
    await this.#member.close();
  }

  async #begin(): Promise<void> {
    const regressed = await this.#use((session) => headSetBack(session));
    if (regressed !== undefined) throw regressed;
    await this.#measure();
    const [row] = await this.#use((session) => session.query(WORK));
    this.#hasTimers = row![0] === true;
    this.#member.followWork(row![1] as number);
    // Other nodes may set timers that this one fires, and timers come with slices.
    const wake = () => this.#member.nodes.length > 1 && this.#alarm.wake();
    this.#member.onNodes(wake);
    this.#member.onTable(wake);
    this.#member.onVersion(() => this.#declared.clusterChanged());
    this.#declared.clusterChanged();
    this.#watch = new HeadWatch({
      use: (work) => this.#session.use(work),
      heads: this.#heads,
      self: () => this.#table.self,
      hasOthers: () => this.#member.nodes.length > 1,
    });
    this.#measuring = setInterval(() => void this.#measure().catch(() => undefined), MEASURE_MS);
    this.#measuring.unref();
  }

  /** Uses the connection alone. Rejects with SvcError. */
  async #use<T>(use: (session: DatabaseSession) => Promise<T>): Promise<T> {
    try {
      return await this.#session.use(use);
    } catch (error) {
      throw journalFailure(error, this.#journal.shown);
    }
  }

  async #measure(): Promise<void> {
    const { limits, series } = this.#settings;
    const bytes = await this.#use(journalBytes);
    series.measured(bytes);
    this.#room.measured(bytes, limits.bytesMax);
  }

  #onReport(report: UserReport): void {
    switch (report.kind) {
      case 'stored':
        this.#settings.series.stored(report.appends, report.records, report.tookMs);
        break;
      case 'ended':
        this.#failure.resolve(new SvcError(report.code, report.message));
        break;
      case 'look':
        this.#member.look();
        break;
      case 'released':
    }
  }
}
