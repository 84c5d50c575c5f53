// ScaleModel computes what more nodes could do than a machine has room for, from measured costs. It plays groups of appends in virtual
// time: nodes that decide one command after the other, each with one statement in flight that takes all that was decided meanwhile;
// a database with some processors that carries out statements in the order in which they arrive; and its disk, which writes one thing
// at a time: a statement is answered by the first write that begins after its end, together with all others of that time.
//
// Nothing in it is random or measured. It assumes that costs stay as they were measured, that a node has one processor, that commands
// come to all nodes alike, and that neither the network nor the bytes that the disk writes are a limit.

export interface ScaleCosts {
  /** Processor time of the nodes for a command of an entity of the node that it is sent to. */
  readonly nodeUs: number;
  /** Further processor time of the nodes for a command that one forwards to another. */
  readonly forwardUs: number;
  /** Processor time of the database for a statement, whatever it stores, and for each event in it. */
  readonly statementUs: number;
  readonly eventUs: number;
  /** Time of a write to the disk, however much it writes. */
  readonly writeUs: number;
}

export interface Installation {
  readonly nodes: number;
  /** Processors of the database. */
  readonly processors: number;
  /** Commands in flight at each node. */
  readonly inFlight: number;
  readonly isSpread: boolean;
}

export interface Prediction {
  readonly eventsPerSecond: number;
  readonly eventsPerStatement: number;
  /** Part of its time for which a processor of the database works. */
  readonly databaseLoad: number;
}

/** Time that is played, and the part of it before anything counts. */
const PLAYED_US = 500_000;
const WARM_UP_US = 100_000;
/** Load from which the database is the limit: more nodes bring little more. */
const FULL_LOAD = 0.9;

interface PlayedNode {
  /** Commands that nothing was done for. */
  undecided: number;
  /** Commands whose events wait for a statement. */
  decided: number;
  /** Time at which the present command is decided. */
  decidesUs: number;
  /** Events of the statement in flight. */
  sent: number;
  /** Time at which the statement in flight has been carried out, and then that at which it is answered. */
  answeredUs: number;
  isCarriedOut: boolean;
}

/** The disk of the database. */
class Disk {
  readonly #writeUs: number;
  /** End of the present write, and of the one that follows it, if anything waits for that. */
  #endUs = 0;
  #nextEndUs: number | undefined;

  constructor(writeUs: number) {
    this.#writeUs = writeUs;
  }

  /** Returns the time at which something is written that is there at a time, which is not before that of any call before. */
  written(nowUs: number): number {
    if (this.#nextEndUs !== undefined && nowUs >= this.#endUs) {
      this.#endUs = this.#nextEndUs;
      this.#nextEndUs = undefined;
    }
    if (nowUs >= this.#endUs) return (this.#endUs = nowUs + this.#writeUs);
    return (this.#nextEndUs ??= this.#endUs + this.#writeUs);
  }
}

/** Returns the processor time of all nodes together for a command: of N nodes, N - 1 own another entity. */
export function commandUs(
  { nodeUs, forwardUs }: ScaleCosts,
  { nodes, isSpread }: Pick<Installation, 'nodes' | 'isSpread'>,
): number {
  return nodeUs + (isSpread ? (forwardUs * (nodes - 1)) / nodes : 0);
}

export function predict(costs: ScaleCosts, installation: Installation): Prediction {
  const { processors, inFlight } = installation;
  const decisionUs = commandUs(costs, installation);
  // They begin one after the other, so that they do not all send at the same time.
  const nodes: PlayedNode[] = Array.from({ length: installation.nodes }, (_, index) => ({
    undecided: inFlight,
    decided: 0,
    decidesUs: decisionUs * (1 + index / installation.nodes),
    sent: 0,
    answeredUs: Infinity,
    isCarriedOut: false,
  }));
  const disk = new Disk(costs.writeUs);
  const freeUs = Array.from({ length: processors }, () => 0);
  let [events, statements, busyUs] = [0, 0, 0];
  const send = (node: PlayedNode, nowUs: number): void => {
    const processor = freeUs.indexOf(Math.min(...freeUs));
    const workUs = costs.statementUs + costs.eventUs * node.decided;
    const endUs = Math.max(nowUs, freeUs[processor]!) + workUs;
    freeUs[processor] = endUs;
    node.answeredUs = endUs;
    node.isCarriedOut = false;
    node.sent = node.decided;
    node.decided = 0;
    busyUs += Math.max(0, Math.min(endUs, PLAYED_US) - Math.max(endUs - workUs, WARM_UP_US));
  };
  for (;;) {
    const node = nodes.reduce((first, one) => (nextUs(one) < nextUs(first) ? one : first));
    const nowUs = nextUs(node);
    if (nowUs >= PLAYED_US) break;
    if (node.answeredUs > node.decidesUs) {
      node.undecided--;
      node.decided++;
      node.decidesUs = node.undecided > 0 ? nowUs + decisionUs : Infinity;
    } else if (!node.isCarriedOut) {
      node.isCarriedOut = true;
      node.answeredUs = disk.written(nowUs);
    } else {
      if (nowUs >= WARM_UP_US) {
        events += node.sent;
        statements++;
      }
      if (node.undecided === 0) node.decidesUs = nowUs + decisionUs;
      node.undecided += node.sent;
      node.sent = 0;
      node.answeredUs = Infinity;
    }
    if (node.sent === 0 && node.decided > 0) send(node, nowUs);
  }
  const countedUs = PLAYED_US - WARM_UP_US;
  return {
    eventsPerSecond: (events * 1e6) / countedUs,
    eventsPerStatement: events / statements,
    databaseLoad: busyUs / (countedUs * processors),
  };
}

/** Returns the first of these numbers of nodes with which the processors of the database are busy for nine tenths of the time. */
export function limitOf(
  costs: ScaleCosts,
  installation: Omit<Installation, 'nodes'>,
  numbers: readonly number[],
): number | undefined {
  return numbers.find(
    (nodes) => predict(costs, { ...installation, nodes }).databaseLoad >= FULL_LOAD,
  );
}

function nextUs({ decidesUs, answeredUs }: PlayedNode): number {
  return Math.min(decidesUs, answeredUs);
}

/**
 * Returns the server's processor time for a statement and for an event, from two measurements with statements of different sizes:
 * those of the line through both. If it does not rise, or begins below zero, all of the time is that of events.
 */
export function fitServer(
  small: { readonly eventsPerStatement: number; readonly serverUs: number },
  large: { readonly eventsPerStatement: number; readonly serverUs: number },
): Pick<ScaleCosts, 'statementUs' | 'eventUs'> {
  const smallUs = small.serverUs * small.eventsPerStatement;
  const largeUs = large.serverUs * large.eventsPerStatement;
  const eventUs = (largeUs - smallUs) / (large.eventsPerStatement - small.eventsPerStatement);
  const statementUs = smallUs - eventUs * small.eventsPerStatement;
  return eventUs > 0 && statementUs >= 0
    ? { statementUs, eventUs }
    : { statementUs: 0, eventUs: small.serverUs };
}
