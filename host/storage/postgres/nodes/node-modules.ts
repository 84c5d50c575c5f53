// NodeModules decides beside which modules a node may join. It is asked under the lock of the cluster, so of two nodes that join at
// once, the second one finds the first.
//
// Invariants
// - A node joins beside another module only if that module was compared with its own, or a member runs its own module, for which that
//   was done.
// - Nodes run two modules at most.
import { SvcError } from '@svc/kit/svc-error';
import { printable } from '@svc/kit/printable';
import type { RunningModule } from '../../cluster-nodes.ts';
import type { DatabaseSession, Statement } from '../database-session.ts';

/** Most modules that nodes run at the same time: the one before an update, and the one after it. */
const MODULES_MAX = 2;

/** The modules of all nodes, each with the node whose lease ends last. */
const MODULES: Statement = {
  text: `SELECT DISTINCT ON (n.fingerprint) n.fingerprint, n.machine,
      (extract(epoch FROM n.lease_until - clock_timestamp()) * 1000)::int8
    FROM svc.node n ORDER BY n.fingerprint, n.lease_until DESC`,
};
const DESCRIPTOR: Statement = {
  text: 'SELECT descriptor FROM svc.module WHERE fingerprint = $1 ORDER BY number DESC LIMIT 1',
};

/** The fingerprint of a module, the machine of a node that runs it, and how long the lease of that node lasts, in milliseconds. */
type ModuleRow = readonly [fingerprint: string, machine: string, leftMs: number];

/** Compares the module of a node with one beside which it is about to run. Throws SvcError if the two cannot run at the same time. */
export type AdmitModule = (running: RunningModule) => void;

/** Thrown if nothing was decided, because a module that runs has to be compared first. */
export class NotCompared extends Error {
  readonly running: RunningModule;

  constructor(running: RunningModule) {
    super('a module was not compared');
    this.running = running;
  }
}

export class NodeModules {
  readonly #own: string;
  readonly #admit: AdmitModule | undefined;
  readonly #shown: string;
  /** Fingerprints of the modules beside which this node may run. */
  readonly #admitted = new Set<string>();

  /** `own`: fingerprint of the node's module. `admit`: absent: it runs beside no other one. `shown`: name of the database in messages. */
  constructor(own: string, admit: AdmitModule | undefined, shown: string) {
    this.#own = own;
    this.#admit = admit;
    this.#shown = shown;
  }

  /** Compares a module, without the lock of the cluster. Throws as `AdmitModule` does. */
  compare(running: RunningModule): void {
    this.#admit!(running);
    this.#admitted.add(running.fingerprint);
  }

  /** Notes the module of a node that has joined while this one was a member: it has compared the two. */
  met(fingerprint: string): void {
    this.#admitted.add(fingerprint);
  }

  /**
   * Returns what keeps this node from joining beside the modules that run, and passes by itself; undefined: it may join. Rejects with
   * SVC_DATA_IN_USE for what does not pass, with NotCompared, and with DatabaseFailure.
   */
  async obstacle(session: DatabaseSession): Promise<SvcError | undefined> {
    const modules = (await session.query(MODULES)) as unknown as readonly ModuleRow[];
    const others = modules.filter(([fingerprint]) => fingerprint !== this.#own);
    if (others.length >= (this.#admit === undefined ? 1 : MODULES_MAX)) {
      const ended = others.find(([, , leftMs]) => leftMs <= 0);
      if (ended !== undefined) return notRemoved(ended[1], this.#shown);
      throw this.#inUse(others);
    }
    if (modules.some(([fingerprint, , leftMs]) => fingerprint === this.#own && leftMs > 0))
      return undefined;
    const other = others.find(([fingerprint]) => !this.#admitted.has(fingerprint));
    if (other === undefined) return undefined;
    const [fingerprint, machine, leftMs] = other;
    if (leftMs <= 0) return notRemoved(machine, this.#shown);
    const [row] = await session.query(DESCRIPTOR, [fingerprint]);
    if (row === undefined) return notNoted(machine, this.#shown);
    throw new NotCompared({ fingerprint, machine, descriptor: row[0] as string });
  }

  #inUse(others: readonly ModuleRow[]): SvcError {
    const named = others.map(
      ([fingerprint, machine, leftMs]) =>
        `${printable(fingerprint)} (on ${printable(machine)}, whose lease has ${leftMs} ms left)`,
    );
    const remedy =
      this.#admit === undefined
        ? 'Stop all runtimes with the other module first.'
        : `Nodes run ${MODULES_MAX} modules at most: complete the update that is under way first.`;
    return new SvcError(
      'SVC_DATA_IN_USE',
      `The journal in ${this.#shown} is used by runtimes with another module: ${named.join('; ')}. This one has the fingerprint ` +
        `${this.#own}. ${remedy}`,
    );
  }
}

/** The error of a node that is kept out by one whose lease has ended. */
export function notRemoved(machine: string, shown: string): SvcError {
  return new SvcError(
    'SVC_DATA_IN_USE',
    `The journal in ${shown} was used by another runtime, on ${printable(machine)}, whose lease has ended, and which cannot be ` +
      'removed: a transaction that it has begun has not ended. Try again, or look for that transaction at the server.',
  );
}

function notNoted(machine: string, shown: string): SvcError {
  return new SvcError(
    'SVC_DATA_IN_USE',
    `A runtime with another module, on ${printable(machine)}, has just joined those that use the journal in ${shown}, and has not ` +
      'stored yet which module it is. Try again.',
  );
}
