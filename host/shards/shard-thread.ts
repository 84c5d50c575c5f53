// ShardThread is one thread of a shard, from its start to its end. It receives the thread's messages, watches whether
// it still answers, and stops it. Restarting is up to SupervisedShard. Invariants:
// I1  `ended` resolves once, however the thread ends; whatever it had not answered is rejected before.
// I2  A port that the thread cannot receive any more is closed, so that its other end learns of it.
// I3  A thread that is not ready in time, or does not answer for too long, is terminated.
import { Worker, type MessagePort } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import type { CertificateTexts } from '@svc/identity/certificates';
import type { ConfigurationTexts } from '@svc/model/configuration';
import type { SharedLimits } from '@svc/model/declared-limits';
import { Heartbeat } from './heartbeat.ts';
import { entryBytes } from '@svc/kit/log-rate';
import type { GuestSource } from '../hosting/guest-source.ts';
import type { Log } from '@svc/kit/log';
import { GuestFault, type WasmFrame } from '@svc/model/guest-fault';
import type { SharedViews } from '@svc/model/view';
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
import type { Address, FromShard, Peer, ShardSettings, ToShard } from './shard-messages.ts';
import { OpenQuestions, shardAway } from './open-questions.ts';
import type { SharedNumbers } from './shard-numbers.ts';
import type { AnswerTo, ShardQuestion } from './shard-questions.ts';
import type { SupervisorLimits } from './supervisor-limits.ts';
import type { WorkKind } from './work-link.ts';
import type { ClusterNode } from '../storage/cluster-nodes.ts';
import type { JournalConnection } from '../storage/journal-connection.ts';

export interface ShardThreadOptions {
  /** Code of the thread, which handles the messages of shard-messages.ts. */
  readonly file: URL;
  readonly settings: ShardSettings;
  /** Source of the module. The thread loads the host's code while the source is being read. */
  readonly source: Promise<GuestSource>;
  readonly limits: SupervisorLimits;
  /** The whole environment of the thread. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
}

/** The resources with which a thread serves. */
export interface ServedResources {
  readonly journal: JournalConnection;
  readonly peers: readonly Peer[];
  readonly numbers: SharedNumbers;
  /** Memory of the module's views; undefined if it has none. */
  readonly views: SharedViews | undefined;
  /** Undefined: the service listens without TLS. */
  readonly certificates: CertificateTexts | undefined;
  /** Undefined: the module has none. */
  readonly configuration: ConfigurationTexts | undefined;
  /** Buckets of the module's limits; undefined if it has none. */
  readonly limits: SharedLimits | undefined;
}

export interface ShardEnd {
  readonly reason: string;
  /** Whether the thread was terminated because it did not answer. */
  readonly isHang: boolean;
}

export class ShardThread {
  /** Resolves once the module is admitted. Rejects if the module is refused, or if the thread ends before. */
  readonly admitted: Promise<ModuleDescriptor>;
  /**
   * Resolves with the thread's address; undefined if the service has no HTTP server. Rejects if the service cannot be
   * served, or if the thread ends before.
   */
  readonly listening: Promise<Address | undefined>;
  /**
   * Resolves once the thread serves no clients any more, because it was stopped or has ended. A stopped thread still
   * serves calls and requests of other shards.
   */
  readonly finished: Promise<void>;
  /** Resolves when the thread has ended. */
  readonly ended: Promise<ShardEnd>;
  readonly #worker: Worker;
  readonly #limits: SupervisorLimits;
  readonly #log: Log;
  #unreachable: readonly number[] = [];
  readonly #admitted = Promise.withResolvers<ModuleDescriptor>();
  readonly #listening = Promise.withResolvers<Address | undefined>();
  readonly #questions = new OpenQuestions();
  readonly #finished = Promise.withResolvers<void>();
  /** Resolves with whether everything in flight could finish. */
  readonly #stopped = Promise.withResolvers<boolean>();
  #reason = 'the thread ended without saying why';
  #isHang = false;
  #isListening = false;
  /** Whether connections with requests in flight had been cut when the thread finished. */
  #hasCut = false;
  #hasEnded = false;
  #startTimer: NodeJS.Timeout | undefined;
  #heartbeat: Heartbeat | undefined;
  /** Size of the thread's log lines, as log-rate.ts counts them. */
  #loggedBytes = 0;

  constructor({ file, settings, source, limits, env, log }: ShardThreadOptions) {
    this.#limits = limits;
    const { count, index } = settings;
    this.#log =
      count === 1 ? log : (entry) => log({ ...entry, fields: { ...entry.fields, shard: index } });
    const ended = Promise.withResolvers<ShardEnd>();
    this.#worker = new Worker(file, {
      name: 'shard',
      workerData: settings,
      env,
      resourceLimits: { maxOldGenerationSizeMb: limits.shardHeapMib },
    });
    this.#worker.on('message', (message: FromShard) => this.#receive(message));
    this.#worker.on('error', (error: unknown) => {
      this.#reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    this.#worker.on('exit', () => {
      this.#hasEnded = true;
      clearTimeout(this.#startTimer);
      this.#heartbeat?.stop();
      this.#questions.fail();
      this.#fail(
        'SVC_SHARD_FAILED',
        `The thread that runs the module ended at its start: ${this.#reason}. ` +
          'Start the service again; when it happens again, report it with this reason.',
      );
      this.#finished.resolve();
      this.#stopped.resolve(false);
      ended.resolve({ reason: this.#reason, isHang: this.#isHang });
    });
    this.admitted = this.#admitted.promise;
    this.listening = this.#listening.promise;
    this.finished = this.#finished.promise;
    this.ended = ended.promise;
    // Callers await these one after the other; a rejection must not count as unhandled before.
    this.admitted.catch(() => {});
    this.listening.catch(() => {});
    source.then(
      (loaded) => this.#run(loaded),
      (error: unknown) => {
        this.#admitted.reject(error);
        this.#listening.reject(error);
      },
    );
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Serves the admitted module. */
  serve({ journal, peers, ...others }: ServedResources): void {
    const ports = [...journal.ports, ...peers.map(({ port }) => port)];
    if (this.#hasEnded) {
      for (const port of ports) port.close();
      return;
    }
    this.#expect('to listen');
    this.#send({ kind: 'serve', journal, peers, ...others }, ports);
  }

  /** Gives the thread its end of a link on which work arrives. Call it while the thread serves. */
  linkWork(work: WorkKind, port: MessagePort): void {
    if (this.#hasEnded) port.close();
    else this.#send({ kind: 'work', work, port }, [port]);
  }

  /**
   * Asks the thread a question while it serves. Rejects with SVC_SHARD_UNAVAILABLE if it does not serve, with
   * SVC_ANSWER_TIMED_OUT if it is too busy, and with the error of the question itself.
   */
  async ask<Question extends ShardQuestion>(
    question: Question,
    timeoutMs: number,
  ): Promise<AnswerTo<Question>> {
    if (this.#hasEnded || !this.#isListening) throw shardAway();
    const answer = await this.#questions.ask(
      (number) => this.#send({ kind: 'ask', number, question }),
      timeoutMs,
    );
    if (answer.kind === 'failed') throw new SvcError(answer.code, answer.message);
    return answer as AnswerTo<Question>;
  }

  /** Numbers of the nodes of the cluster that the thread cannot reach. */
  get unreachable(): readonly number[] {
    return this.#unreachable;
  }

  /** Gives the thread the nodes of the cluster. */
  renewNodes(nodes: readonly ClusterNode[]): void {
    if (this.#isListening) this.#send({ kind: 'nodes', nodes });
  }

  /** Lets the thread ask other nodes to look who owns what. */
  announceOwners(): void {
    if (this.#isListening) this.#send({ kind: 'owners-changed' });
  }

  /** Sends the link to another shard. */
  connect(peer: Peer): void {
    if (this.#hasEnded) peer.port.close();
    else this.#send({ kind: 'peer', peer }, [peer.port]);
  }

  /** Gives the thread new certificates. */
  renewCertificates(texts: CertificateTexts): void {
    if (!this.#hasEnded) this.#send({ kind: 'certificates', texts });
  }

  /** Gives the thread new values of the module's configuration. */
  renewConfiguration(texts: ConfigurationTexts): void {
    if (!this.#hasEnded) this.#send({ kind: 'configuration', texts });
  }

  /** Notifies the thread that another shard is started again after `pauseMs`. */
  peerAway(index: number, pauseMs: number): void {
    if (!this.#hasEnded) this.#send({ kind: 'peer-away', index, pauseMs });
  }

  /**
   * Stops the thread. Resolves with whether everything in flight could finish: true for a thread that does not listen
   * yet, or that has ended before. `graceMs`: time for the requests in flight. `boundMs`: time after which the thread
   * is terminated anyway. `othersFinished`: resolves once no other shard sends it calls or requests.
   */
  async stop(
    graceMs: number,
    boundMs: number,
    othersFinished: Promise<unknown> = this.finished,
  ): Promise<boolean> {
    if (!this.#isListening || this.#hasEnded) {
      await this.end();
      return true;
    }
    this.#send({ kind: 'stop', graceMs });
    void othersFinished.then(() => this.#send({ kind: 'close' }));
    const timer = setTimeout(() => this.#stopped.resolve(false), boundMs);
    const inTime = await this.#stopped.promise;
    clearTimeout(timer);
    await this.end();
    return inTime;
  }

  /** Terminates the thread, whatever it is doing. */
  async end(): Promise<void> {
    this.#finished.resolve();
    await this.#worker.terminate();
  }

  #receive(message: FromShard): void {
    switch (message.kind) {
      case 'admitted':
        clearTimeout(this.#startTimer);
        return this.#admitted.resolve(message.descriptor);
      case 'listening':
        clearTimeout(this.#startTimer);
        this.#isListening = true;
        this.#watch();
        return this.#listening.resolve(message.address);
      case 'failed':
        // A thread that reports a failure cannot continue, neither at its start nor later.
        this.#fail(message.code, message.message, message.frames);
        this.#reason = `${message.message} [${message.code}]`;
        return void this.end();
      case 'log':
        this.#log(message.entry);
        this.#loggedBytes += entryBytes(message.entry);
        return undefined;
      case 'answer':
        return this.#questions.answered(message.number, message.answer);
      case 'alive':
        return this.#heartbeat?.answered();
      case 'unreachable':
        this.#unreachable = message.nodes;
        return undefined;
      case 'finished':
        this.#hasCut = message.hasCut;
        return this.#finished.resolve();
      case 'stopped':
        this.#finished.resolve();
        return this.#stopped.resolve(!this.#hasCut);
    }
  }

  #run(source: GuestSource): void {
    if (this.#hasEnded) return;
    this.#expect('to start its module');
    this.#send({ kind: 'run', source });
  }

  /** Ends the thread if it takes longer than the start timeout. `what`: what it has to do, for the reason. */
  #expect(what: string): void {
    const { startTimeoutMs } = this.#limits;
    this.#startTimer = setTimeout(() => {
      this.#reason = `it took longer than ${startTimeoutMs} ms ${what} (svc.supervisor.start-timeout-ms)`;
      void this.end();
    }, startTimeoutMs);
  }

  #watch(): void {
    const { heartbeatMs, hangAfterMs } = this.#limits;
    if (this.#hasEnded) return;
    this.#heartbeat = new Heartbeat({
      heartbeatMs,
      hangAfterMs,
      ask: () => this.#send({ kind: 'are-you-alive', loggedBytes: this.#loggedBytes }),
      onHang: () => {
        this.#isHang = true;
        this.#reason = `it did not answer for ${hangAfterMs} ms (svc.supervisor.hang-after-ms)`;
        void this.end();
      },
    });
  }

  #fail(code: SvcErrorCode, message: string, frames?: readonly WasmFrame[]): void {
    const cause = frames && new GuestFault('trap', message, { frames });
    const error = new SvcError(code, message, { cause });
    this.#admitted.reject(error);
    this.#listening.reject(error);
  }

  #send(message: ToShard, transfer: MessagePort[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}
