// DeclaredModule stores what this node's module declares for the whole service: its number in the table of modules, of which the last
// one is that of the newest module, and the schedules.
//
// Invariants
// - While nodes run two modules, the schedules and the last number are those of the newest one, whatever node is started again.
// - Once this module is the newest again, because the nodes of a newer one are gone, its first node stores its number and its schedules
//   again. So does a node that has become the first one, and the first one after a node with a newer module came and went unseen.
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '@svc/kit/svc-error';
import { systemClock } from '../../system.ts';
import { type ClusterMembership, NOBODY } from '../cluster-nodes.ts';
import type { WritingModule as NotedModule } from '../journal-contents.ts';
import type { ServiceSchedule, TimerAdministration } from '../timer-administration.ts';
import { newestModule } from './nodes/slice-shares.ts';
import type { WithSession } from './operator-change.ts';
import { NEWEST_MODULE, NOTE_MODULE, type WritingModule } from './writing-module.ts';

export interface DeclaredModuleNeeds {
  /** Fingerprint of the module that this node runs. */
  readonly fingerprint: string;
  readonly cluster: Pick<ClusterMembership, 'nodes' | 'self'>;
  /** Rejects with SvcError. */
  readonly withSession: WithSession;
  readonly timers: Pick<TimerAdministration, 'reconcileSchedules'>;
  /** Receives the number. */
  readonly number: WritingModule;
  /** Receives why schedules that were accepted at the start are refused later, as a sentence. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** The pause after an attempt that has failed, in milliseconds. */
const AGAIN_MS = 500;
/** Codes of schedules that are refused, also if they are stored again. */
const REFUSED: ReadonlySet<string> = new Set(['SVC_TIMER_INVALID', 'SVC_TIMERS_FULL']);

export class DeclaredModule {
  readonly #needs: DeclaredModuleNeeds;
  #module: NotedModule | undefined;
  #schedules: readonly ServiceSchedule[] | undefined;
  /** Number of this node while it is the first one with the newest module; NOBODY: it is not. */
  #first = NOBODY;
  /** Number of the module in the table; undefined until it is known. */
  #number: number | undefined;
  /** As what the schedules were stored last: the first node, and the number of its module. */
  #storedAs: string | undefined;
  #isClosed = false;

  constructor(needs: DeclaredModuleNeeds) {
    this.#needs = needs;
  }

  /** Notes the module that writes from now on, as often as it takes: until then, nothing is written. */
  note(module: NotedModule): void {
    this.#needs.number.announce();
    this.#module = module;
    void this.#repeat(
      () => this.#module === module,
      () => this.#note(module),
    );
  }

  /** Makes the schedules of the service these ones once the module is the newest, at once if it is. Rejects as `TimerAdministration` does. */
  async reconcile(schedules: readonly ServiceSchedule[], nowMs: number): Promise<void> {
    this.#schedules = schedules;
    const { fingerprint, withSession, timers } = this.#needs;
    // A node with a newer module may have joined since this one has looked at the cluster.
    const [newest] = await withSession((session) => session.query(NEWEST_MODULE));
    if (newest?.[0] !== fingerprint) return;
    await timers.reconcileSchedules(schedules, nowMs);
    this.#storedAs = this.#present();
  }

  /** Called after nodes, or owners of slices, have changed. */
  clusterChanged(): void {
    const first = this.#firstOfNewest();
    this.#first = first;
    if (first === NOBODY) return;
    void this.#repeat(
      () => this.#first === first,
      () => this.#storeAgain(),
    );
  }

  /** Ends what is repeated. */
  close(): void {
    this.#isClosed = true;
  }

  #firstOfNewest(): number {
    const { cluster, fingerprint } = this.#needs;
    const nodes = cluster.nodes.filter(({ status }) => status !== 'Down');
    if (newestModule(nodes) !== fingerprint) return NOBODY;
    const first = nodes.find((node) => node.fingerprint === fingerprint)!.number;
    return first === cluster.self ? first : NOBODY;
  }

  async #storeAgain(): Promise<void> {
    const nowMs = systemClock.nowMs();
    if (this.#module !== undefined) await this.#note({ ...this.#module, timeMs: nowMs });
    if (this.#schedules !== undefined && this.#storedAs !== this.#present())
      await this.reconcile(this.#schedules, nowMs);
  }

  #present(): string {
    return `${this.#first}/${this.#number}`;
  }

  async #note({ fingerprint, descriptor, timeMs }: NotedModule): Promise<void> {
    const { withSession, cluster, number } = this.#needs;
    const values = [fingerprint, descriptor, timeMs, cluster.self];
    const [row] = await withSession((session) => session.query(NOTE_MODULE, values));
    if (this.#module?.fingerprint !== fingerprint) return;
    this.#number = row![0] as number;
    number.note(this.#number);
  }

  /** Does something until it succeeds, or is not wanted any more. */
  async #repeat(isWanted: () => boolean, work: () => Promise<void>): Promise<void> {
    while (!this.#isClosed && isWanted())
      try {
        await work();
        return;
      } catch (error) {
        if (error instanceof SvcError && REFUSED.has(error.code))
          return this.#needs.warn?.(
            `The schedules of the service are not those of its module: ${error.message}`,
          );
        await delay(AGAIN_MS, undefined, { ref: false });
      }
  }
}
