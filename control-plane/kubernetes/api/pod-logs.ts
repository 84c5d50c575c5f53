// PodLogs reads the recent output of one container of a pod. The API server bounds output from its beginning (`limitBytes`), but the
// end is what is wanted: so the output is bounded by lines, and only the last bytes of what arrives are kept.
import type { KubeClient } from './kube-client.ts';

export interface PodLogQuery {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** True: the output before the last restart of the container. */
  readonly previous: boolean;
  /** Only the last lines; 0 for none. Default: as many as are needed. */
  readonly tail?: number | undefined;
  /** Only the output of the last seconds; 0 for none. */
  readonly sinceS?: number | undefined;
  /** The most bytes of the result, which are the last ones. */
  readonly bytesMax: number;
}

/** Lines that are asked for unless the query says fewer. */
const LINES_MAX = 20_000;
/** The most bytes that the server is asked to send for one reading. */
const READ_BYTES_MAX = 16 * 1024 * 1024;
/** Fewer lines are asked for by this factor if so many are more than the server may send. */
const FEWER = 16;
const CONTINUATION = 0b1000_0000;
const CONTINUATION_MASK = 0b1100_0000;

/** Rejects with KubeError, such as for a pod that is gone, or that has no previous container. */
export async function readPodLogs(
  client: KubeClient,
  query: PodLogQuery,
  signal: AbortSignal,
  readBytesMax = READ_BYTES_MAX,
): Promise<string> {
  const { sinceS, bytesMax, tail = LINES_MAX } = query;
  // The server refuses 0 seconds. It still checks a request for no line.
  let lines = sinceS === 0 ? 0 : Math.min(tail, LINES_MAX);
  for (;;) {
    const output = await readOnce(
      client,
      { ...query, tail: lines, bytesMax },
      readBytesMax,
      signal,
    );
    const isCut = output.length >= readBytesMax;
    if (!isCut || lines <= 1) return endOf(output.last, bytesMax);
    lines = Math.max(1, Math.floor(lines / FEWER));
  }
}

interface Output {
  /** Bytes that the server has sent. */
  readonly length: number;
  /** The last ones of them. */
  readonly last: Buffer;
}

async function readOnce(
  client: KubeClient,
  { namespace, pod, container, previous, tail, sinceS, bytesMax }: PodLogQuery,
  limitBytes: number,
  signal: AbortSignal,
): Promise<Output> {
  return client.transport.stream(
    {
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/pods/${pod}/log`,
      query: {
        container,
        previous,
        tailLines: tail,
        sinceSeconds: sinceS === 0 ? undefined : sinceS,
        limitBytes,
      },
      signal,
      endsInTime: true,
    },
    async (pieces) => {
      let length = 0;
      let kept: Buffer[] = [];
      let keptLength = 0;
      for await (const piece of pieces) {
        kept.push(piece);
        length += piece.length;
        keptLength += piece.length;
        if (length > limitBytes) break;
        if (keptLength <= 2 * bytesMax + 65_536) continue;
        const last = Buffer.concat(kept).subarray(-Math.max(1, bytesMax));
        kept = [Buffer.from(last)];
        keptLength = last.length;
      }
      return { length, last: Buffer.concat(kept) };
    },
  );
}

/** Decodes the last bytes, from the beginning of a character. */
function endOf(bytes: Buffer, bytesMax: number): string {
  let start = Math.max(0, bytes.length - bytesMax);
  if (start > 0)
    while (start < bytes.length && (bytes[start]! & CONTINUATION_MASK) === CONTINUATION) start++;
  return bytes.toString('utf8', start);
}
