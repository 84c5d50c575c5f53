// NodeModules decides beside which modules a node may join. It is asked under the lock of the cluster, so of two nodes that join at
// once, the second one finds the first.
//
// Invariants
// - A node joins beside another module only if that module was compared with its own, or a member runs its own module, for which that
//   was done.
// - Nodes run two modules at most.
// - A node is refused only because of nodes that live. One that may have been lost is waited for until its lease has ended.
import { SvcError } from '@svc/kit/svc-error';
import { printable } from '@svc/kit/printable';
import type { RunningModule } from '../../cluster-nodes.ts';
import type { DatabaseSession, Statement } from '../database-session.ts';
import type { MetLeases, MetNode } from './met-leases.ts';

/** Most modules that nodes run at the same time: the one before an update, and the one after it. */
const MODULES_MAX = 2;

/** The modules of all nodes, each with the node whose lease ends last. */
const MODULES: Statement = {
  text: `SELECT DISTINCT ON (n.fingerprint) n.fingerprint, n.machine,
      (extract(epoch FROM n.lease_until - clock_timestamp()) * 1000)::int8, n.number, n.renewals
    FROM svc.node n ORDER BY n.fingerprint, n.lease_until DESC`,
};
const DESCRIPTOR: Statement = {
  text: 'SELECT descriptor FROM svc.module WHERE fingerprint = $1 ORDER BY number DESC LIMIT 1',
};

/** A row of `MODULES`. */
type ModuleRow = readonly [
  fingerprint: string,
  machine: string,
  leftMs: number,
  number: number,
  renewals: number,
];

/** A module, and the node that runs it whose lease ends last. */
interface ModuleNode extends MetNode {
  readonly fingerprint: string;
  readonly machine: string;
  /** How long the lease of the node lasts, in milliseconds; 0 or less: it has ended. */
  readonly leftMs: number;
}

interface NodeModulesNeeds {
  /** Fingerprint of the node's module. */
  readonly own: string;
  /** Absent: the node runs beside no other module. */
  readonly admit: AdmitModule | undefined;
  /** The leases that have kept the node out since it tries to join. */
  readonly met: MetLeases;
  /** Name of the database in messages. */
  readonly shown: string;
}

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
  readonly #needs: NodeModulesNeeds;
  /** Fingerprints of the modules beside which this node may run. */
  readonly #admitted = new Set<string>();
  /** Why this node does not run beside a module, by its fingerprint. */
  readonly #refusals = new Map<string, SvcError>();

  constructor(needs: NodeModulesNeeds) {
    this.#needs = needs;
  }

  /** Compares a module, without the lock of the cluster. `obstacle` takes the result into account. */
  compare(running: RunningModule): void {
    try {
      this.#needs.admit!(running);
      this.#admitted.add(running.fingerprint);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      this.#refusals.set(running.fingerprint, error);
    }
  }

  /** Notes the module of a node that has joined while this one was a member: it has compared the two. */
  met(fingerprint: string): void {
    this.#admitted.add(fingerprint);
  }

  /**
   * Returns what keeps this node from joining beside the modules that run, and passes by itself; undefined: it may join. Rejects with
   * SVC_DATA_IN_USE and as the comparison does for what does not pass, with NotCompared, and with DatabaseFailure.
   */
  async obstacle(session: DatabaseSession): Promise<SvcError | undefined> {
    const { own, admit, shown } = this.#needs;
    const modules = ((await session.query(MODULES)) as unknown as readonly ModuleRow[]).map(
      moduleNode,
    );
    const others = modules.filter(({ fingerprint }) => fingerprint !== own);
    if (others.length >= (admit === undefined ? 1 : MODULES_MAX)) {
      const ended = others.find(({ leftMs }) => leftMs <= 0);
      if (ended !== undefined) return notRemoved(ended.machine, shown);
      return this.#unlessAlive(others, this.#inUse(others));
    }
    if (modules.some(({ fingerprint, leftMs }) => fingerprint === own && leftMs > 0))
      return undefined;
    const other = others.find(({ fingerprint }) => !this.#admitted.has(fingerprint));
    if (other === undefined) return undefined;
    const { fingerprint, machine, leftMs } = other;
    if (leftMs <= 0) return notRemoved(machine, shown);
    const refusal = this.#refusals.get(fingerprint);
    if (refusal !== undefined) return this.#unlessAlive([other], refusal);
    const [row] = await session.query(DESCRIPTOR, [fingerprint]);
    if (row === undefined) return notNoted(machine, shown);
    throw new NotCompared({ fingerprint, machine, descriptor: row[0] as string });
  }

  /** Returns the error, which passes if one of the nodes was lost, and throws it if all of them live. */
  #unlessAlive(nodes: readonly ModuleNode[], error: SvcError): SvcError {
    const alive = nodes.filter((node) => this.#needs.met.isRenewed(node));
    if (alive.length < nodes.length) return error;
    // The next attempt compares again: the module may have another descriptor then.
    this.#refusals.clear();
    throw error;
  }

  #inUse(others: readonly ModuleNode[]): SvcError {
    const { own, admit, shown } = this.#needs;
    const named = others.map(
      ({ fingerprint, machine, leftMs }) =>
        `${printable(fingerprint)} (on ${printable(machine)}, whose lease has ${leftMs} ms left)`,
    );
    const remedy =
      admit === undefined
        ? 'Stop all runtimes with the other module first.'
        : `Nodes run ${MODULES_MAX} modules at most: complete the update that is under way first.`;
    return new SvcError(
      'SVC_DATA_IN_USE',
      `The journal in ${shown} is used by runtimes with another module: ${named.join('; ')}. This one has the fingerprint ` +
        `${own}. ${remedy}`,
    );
  }
}

function moduleNode([fingerprint, machine, leftMs, number, renewals]: ModuleRow): ModuleNode {
  return { fingerprint, machine, leftMs, number, renewals };
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
