// PeersCampaign: sends the same streams of requests through the proxy to several servers, and compares what each has received
// with what the proxy has accepted. So two servers that disagree cannot both be right, and one that disagrees is reported
// with the shortest stream that was found for it.
import { Random } from '../../random.ts';
import { PeerLane } from './peer-lane.ts';
import { expectedOf, judge, type Verdict } from './peer-verdict.ts';
import { randomStream } from './request-streams.ts';
import { shortened } from './shortened-stream.ts';

/** Ports of the servers, by their names. */
export type ServerPorts = ReadonlyMap<string, number>;

export interface PeersCampaign {
  readonly servers: ServerPorts;
  readonly seed: number;
  readonly inputs: number;
  /** The campaign ends before its inputs are done. */
  readonly forMs?: number;
  /** Streams to send before any other. */
  readonly first?: readonly Uint8Array[];
  readonly onDisagreement?: (disagreement: Disagreement) => void;
  /** Called after each thousand inputs. */
  readonly onProgress?: (report: PeersReport) => void;
}

export interface Disagreement {
  readonly server: string;
  readonly problem: string;
  readonly stream: Uint8Array;
}

/** Returns the problem and the stream as a text of JavaScript. */
export function disagreementText({ server, problem, stream }: Disagreement): string {
  return `${server}: ${problem}\n  ${JSON.stringify(Buffer.from(stream).toString('latin1'))}`;
}

export interface PeersReport {
  inputs: number;
  /** Requests that the proxy has accepted. */
  requests: number;
  /** Streams that end with what is no complete request. */
  broken: number;
  /** Refusals that were tolerated, by their reasons. */
  readonly tolerated: Map<string, number>;
  readonly disagreements: Disagreement[];
}

/** One mistake may be met by many streams. */
const DISAGREEMENTS_MAX = 5;
const PROGRESS_EVERY = 1000;
/** Shows by its answer whether anything was left on the connection to the server. */
const LAST_STREAM = Buffer.from('GET /last HTTP/1.1\r\nHost: a\r\n\r\n');

export async function comparePeers(campaign: PeersCampaign): Promise<PeersReport> {
  const { servers, seed, inputs, forMs = Infinity, first = [] } = campaign;
  const random = new Random(seed);
  const report: PeersReport = {
    inputs: 0,
    requests: 0,
    broken: 0,
    tolerated: new Map(),
    disagreements: [],
  };
  const untilMs = performance.now() + forMs;
  const watched = await Promise.all(
    [...servers].map(([name, port]) => WatchedServer.open(name, port)),
  );
  for (let input = 0; input < first.length + inputs && performance.now() < untilMs; input++) {
    const stream = Buffer.from(first[input] ?? randomStream(random));
    const expected = expectedOf(stream);
    const verdicts = await Promise.all(watched.map((server) => server.send(stream)));
    report.inputs++;
    report.requests += expected.requests.length;
    if (expected.isBroken) report.broken++;
    for (const { tolerated } of verdicts)
      for (const reason of tolerated)
        report.tolerated.set(reason, (report.tolerated.get(reason) ?? 0) + 1);
    for (const [index, { problem }] of verdicts.entries())
      if (problem !== undefined) await watched[index]!.explain(problem, report, campaign);
    if (report.disagreements.length >= DISAGREEMENTS_MAX) break;
    if (report.inputs % PROGRESS_EVERY === 0) campaign.onProgress?.(report);
  }
  for (const server of watched) {
    const { problem } = await server.send(LAST_STREAM);
    if (problem !== undefined) await server.explain(problem, report, campaign);
    await server.close();
  }
  return report;
}

/** A server with the streams that it was sent last. */
class WatchedServer {
  readonly #name: string;
  readonly #port: number;
  #lane: PeerLane;
  #streams: Buffer[] = [];

  private constructor(name: string, port: number, lane: PeerLane) {
    this.#name = name;
    this.#port = port;
    this.#lane = lane;
  }

  static async open(name: string, port: number): Promise<WatchedServer> {
    return new WatchedServer(name, port, await PeerLane.open(name, port));
  }

  async send(stream: Buffer): Promise<Verdict> {
    this.#streams = [...this.#streams.slice(-1), stream];
    const verdict = await sendThrough(this.#lane, stream);
    if (verdict.mayBeIdleEnd !== true) return verdict;
    const second = await sendThrough(this.#lane, stream);
    const reason = `${this.#name} closes: an idle connection, when it was used again`;
    return { ...second, tolerated: [...second.tolerated, reason] };
  }

  /** Reports a problem with the shortest stream that causes one, and begins again with new connections. */
  async explain(problem: string, report: PeersReport, campaign: PeersCampaign): Promise<void> {
    const last = this.#streams.at(-1) ?? LAST_STREAM;
    const found =
      (await this.#shortened(last)) ??
      // A server may still have been busy with the stream before.
      (await this.#shortened(Buffer.concat(this.#streams)));
    const disagreement: Disagreement = {
      server: this.#name,
      problem: found?.problem ?? `${problem} (which did not happen a second time)`,
      stream: found?.stream ?? last,
    };
    report.disagreements.push(disagreement);
    campaign.onDisagreement?.(disagreement);
    await this.close();
    this.#streams = [];
    this.#lane = await PeerLane.open(this.#name, this.#port);
  }

  async close(): Promise<void> {
    await this.#lane.close();
  }

  #shortened(stream: Buffer): ReturnType<typeof shortened> {
    return shortened(stream, async (candidate) => {
      const lane = await PeerLane.open(this.#name, this.#port);
      try {
        const { problem } = await sendThrough(lane, candidate);
        return problem ?? (await sendThrough(lane, LAST_STREAM)).problem;
      } finally {
        await lane.close();
      }
    });
  }
}

async function sendThrough(lane: PeerLane, stream: Buffer): Promise<Verdict> {
  try {
    return judge(lane.name, expectedOf(stream), await lane.send(stream));
  } catch (error) {
    return { problem: (error as Error).message, tolerated: [] };
  }
}
