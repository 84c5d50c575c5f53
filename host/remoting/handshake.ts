// Handshake: the first message of each side of a connection between nodes. The side that connects sends its hello first; the other
// side answers with its own, or with a refusal, and each checks that the two can work together: the same cluster, the
// same protocol, the same slices, and the node that was meant.
//
// The two first values of a hello stay as they are in all versions of the protocol.
import { SLICE_COUNT, SLICE_HASH_VERSION } from '@svc/model/slice';
import { NOBODY } from '../storage/cluster-nodes.ts';
import type { Scalar } from './flat-list.ts';
import { RefusedMessage } from './refused-message.ts';
import { REMOTING_PROTOCOL } from './remoting-limits.ts';

/** A node as it introduces itself. */
export interface NodeIdentity {
  /** Id of the cluster. */
  readonly cluster: string;
  /** NOBODY while the node is no member. */
  readonly number: number;
  /** Another one for each start. */
  readonly uid: string;
  /** Version of the runtime. */
  readonly version: string;
  /** Fingerprint of the module that it runs. */
  readonly fingerprint: string;
}

/** A node that is meant. */
export type NodeName = Pick<NodeIdentity, 'number' | 'uid'>;

export interface Hello extends NodeIdentity {
  readonly protocol: number;
  readonly hashVersion: number;
  readonly slices: number;
  /** The node that the sender means to reach. */
  readonly to: NodeName;
}

const MAGIC = 'svc-remoting';
const REFUSED = 'refused';
const TEXT_UNITS_MAX = 512;

/** Returns the hello of a node to another one. */
export function helloTo(self: NodeIdentity, to: NodeName): Scalar[] {
  const { cluster, number, uid, version, fingerprint } = self;
  return [
    MAGIC,
    REMOTING_PROTOCOL,
    cluster,
    number,
    uid,
    version,
    fingerprint,
    SLICE_HASH_VERSION,
    SLICE_COUNT,
    to.number,
    to.uid,
  ];
}

/** Returns the message with which the side that has accepted refuses. */
export function refusalOf(problem: string): Scalar[] {
  return [MAGIC, REMOTING_PROTOCOL, REFUSED, problem.slice(0, TEXT_UNITS_MAX)];
}

/** Reads a hello. Throws RefusedMessage, also for a refusal of the other side. */
export function readHello(values: readonly Scalar[]): Hello {
  const [magic, protocol, cluster, number, uid, version, fingerprint, hashVersion, slices] = values;
  if (magic !== MAGIC) throw new RefusedMessage('does not speak the protocol of nodes');
  if (protocol !== REMOTING_PROTOCOL)
    throw new RefusedMessage(
      `speaks version ${shown(protocol)} of the protocol, and this node ${REMOTING_PROTOCOL}`,
    );
  if (cluster === REFUSED && values.length === 4)
    throw new RefusedMessage(`refuses: ${shown(number)}`);
  const [toNumber, toUid] = values.slice(9);
  if (
    values.length !== 11 ||
    ![number, hashVersion, slices, toNumber].every(isCount) ||
    ![cluster, uid, version, fingerprint, toUid].every(isName)
  )
    throw new RefusedMessage('introduced itself with a message that is no hello');
  return {
    protocol,
    cluster: cluster as string,
    number: number as number,
    uid: uid as string,
    version: version as string,
    fingerprint: fingerprint as string,
    hashVersion: hashVersion as number,
    slices: slices as number,
    to: { number: toNumber as number, uid: toUid as string },
  };
}

/**
 * Returns why the two nodes cannot work together, as the rest of a sentence that begins with "the other side"; undefined if they
 * can. `expected`: the node that this side means to reach; undefined: it takes any.
 */
export function helloProblem(
  theirs: Hello,
  self: NodeIdentity,
  expected: NodeName | undefined,
): string | undefined {
  // The problem is sent to the other side, which may be anybody, so it does not name this cluster.
  if (theirs.cluster !== self.cluster)
    return `belongs to another cluster, ${shown(theirs.cluster)}`;
  if (theirs.hashVersion !== SLICE_HASH_VERSION || theirs.slices !== SLICE_COUNT)
    return (
      `divides entities into ${theirs.slices} slices by a hash of version ${theirs.hashVersion}, ` +
      `and this node into ${SLICE_COUNT} by version ${SLICE_HASH_VERSION}`
    );
  if (expected !== undefined && !isSame(theirs, expected))
    return `is node ${theirs.number}, and node ${expected.number} was meant`;
  if (theirs.number === NOBODY) return 'is no member of the cluster';
  if (theirs.uid === self.uid) return 'is this node itself, or a copy of it';
  if (!isSame(theirs.to, self))
    return `means node ${theirs.to.number}, and this is ${self.number === NOBODY ? 'no member of the cluster' : `node ${self.number}`}`;
  return undefined;
}

function isSame(left: NodeName, right: NodeName): boolean {
  return left.number === right.number && left.uid === right.uid;
}

function isCount(value: Scalar | undefined): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isName(value: Scalar | undefined): boolean {
  return typeof value === 'string' && value.length <= TEXT_UNITS_MAX;
}

/** Returns a value of the other side as it is shown. */
function shown(value: Scalar | undefined): string {
  return typeof value === 'string' ? value.slice(0, TEXT_UNITS_MAX) : JSON.stringify(value ?? null);
}
