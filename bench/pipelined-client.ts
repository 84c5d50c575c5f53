// PipelinedClient: a client that uses little processor time: it sends prepared bytes, several requests concurrently
// on each connection, and reads only the status of an answer.
import { connect } from 'node:net';

export interface PipelinedLoad {
  readonly port: number;
  readonly connections: number;
  /** Concurrent requests on each connection. */
  readonly depth: number;
  /** Returns the next request as text of one byte per character; undefined: there are no more. */
  readonly next: () => string | undefined;
}

const STATUS_LINE = 'HTTP/1.1 ';
const STATUS_DIGITS = 3;

/** Sends the requests. Resolves with the number of answers. Rejects if a status is not 200, or a connection broke. */
export async function sendPipelined(load: PipelinedLoad): Promise<number> {
  const counts = await Promise.all(
    Array.from({ length: load.connections }, () => loadOneConnection(load)),
  );
  return counts.reduce((sum, count) => sum + count);
}

/** Returns the text of a request for a path of a server on this machine. `token`: the bearer token that it sends. */
export function requestText(method: string, path: string, json?: string, token?: string): string {
  const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`;
  const body =
    json === undefined
      ? '\r\n'
      : `content-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`;
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}${body}`;
}

/** Counts the answers of one connection, which arrive in pieces of any size. */
export class AnswerCount {
  readonly #status: string;
  /** The end of the last piece, in which a status line may have begun. */
  #rest = '';

  /** `status`: the status that every answer has to have. */
  constructor(status = '200') {
    this.#status = status;
  }

  /** Returns the number of status lines that this piece completes. Throws if a status is another one than the given. */
  add(piece: string): number {
    const text = this.#rest + piece;
    const last = text.length - STATUS_LINE.length - STATUS_DIGITS;
    let count = 0;
    for (let at = text.indexOf(STATUS_LINE); at !== -1 && at <= last; count++) {
      const from = at + STATUS_LINE.length;
      if (!text.startsWith(this.#status, from))
        throw new Error(`answered ${text.slice(from, from + STATUS_DIGITS)}`);
      at = text.indexOf(STATUS_LINE, from);
    }
    // The rest is too short for a whole status line, which would have been counted.
    this.#rest = text.slice(Math.max(0, last + 1));
    return count;
  }
}

/** Sends requests on one connection until there are no more. Resolves with the number of answers. */
function loadOneConnection({ port, depth, next }: PipelinedLoad): Promise<number> {
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
