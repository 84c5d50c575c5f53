// A client that costs its machine as little as one can: requests are bytes that were written out before,
// several under way on each connection, and of an answer nothing is looked at but its status.
import { connect } from 'node:net';

export interface PipelinedLoad {
  readonly port: number;
  readonly connections: number;
  /** Under way on each connection. */
  readonly depth: number;
  /** The next request, whole, as text of one byte a unit; undefined: there is none any more. */
  readonly next: () => string | undefined;
}

const STATUS_LINE = 'HTTP/1.1 ';
const STATUS_DIGITS = 3;

/** Answers how many were answered, once all are. Rejects when one was not with 200, or a connection broke. */
export async function sendPipelined(load: PipelinedLoad): Promise<number> {
  const counts = await Promise.all(Array.from({ length: load.connections }, () => onOne(load)));
  return counts.reduce((sum, count) => sum + count);
}

/** A whole request of a path of this machine's server. */
export function requestText(method: string, path: string, json?: string): string {
  const body =
    json === undefined
      ? '\r\n'
      : `content-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`;
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${body}`;
}

/** The answers of one connection, in whatever pieces they come. */
export class AnswerCount {
  /** What a status line may begin in that is not all there yet. */
  #rest = '';

  /** How many statuses have come with this piece. Throws when one is not 200. */
  add(piece: string): number {
    const text = this.#rest + piece;
    const last = text.length - STATUS_LINE.length - STATUS_DIGITS;
    let count = 0;
    for (let at = text.indexOf(STATUS_LINE); at !== -1 && at <= last; count++) {
      const from = at + STATUS_LINE.length;
      if (!text.startsWith('200', from))
        throw new Error(`answered ${text.slice(from, from + STATUS_DIGITS)}`);
      at = text.indexOf(STATUS_LINE, from);
    }
    // Too short for a whole one, which was counted.
    this.#rest = text.slice(Math.max(0, last + 1));
    return count;
  }
}

function onOne({ port, depth, next }: PipelinedLoad): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const answers = new AnswerCount();
    let underWay = 0;
    let answered = 0;
    const send = (count: number): void => {
      let bytes = '';
      for (let index = 0; index < count; index++) {
        const request = next();
        if (request === undefined) break;
        bytes += request;
        underWay++;
      }
      if (bytes !== '') socket.write(bytes, 'latin1');
      else if (underWay === 0) socket.end(() => resolve(answered));
    };
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      try {
        const count = answers.add(piece);
        answered += count;
        underWay -= count;
        send(count);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.once('connect', () => send(depth));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(`closed with ${underWay} requests under way`)));
  });
}
