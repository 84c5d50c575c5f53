// Answers: one request to a control plane over a connection that stays open, and the time that it takes.
import { Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly bytes: number;
  /** From sending the request to the last byte of the answer, in milliseconds. */
  readonly tookMs: number;
}

export interface Sent {
  readonly url: string;
  readonly line: string;
  readonly token: string;
  readonly json?: string;
}

/** Connections of a client, which `destroy` closes. */
export function keptConnections(connections: number): Agent {
  return new Agent({ keepAlive: true, maxSockets: connections });
}

/** Sends `GET /services/shop` with the token. Rejects if the connection breaks. */
export function answerTo(agent: Agent, { url, line, token, json }: Sent): Promise<Answer> {
  const [method, path] = line.split(' ') as [string, string];
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      { agent, method, headers: { authorization: `Bearer ${token}` } },
      (response) => {
        let bytes = 0;
        response.on('data', (piece: Buffer) => (bytes += piece.length));
        response.once('error', reject);
        response.once('end', () =>
          resolve({ status: response.statusCode!, bytes, tookMs: performance.now() - startedMs }),
        );
      },
    );
    sent.once('error', reject);
    sent.end(json);
  });
}

/** Sends the request, and rejects if the status of the answer is not 200. */
export async function accepted(agent: Agent, sent: Sent): Promise<Answer> {
  const answer = await answerTo(agent, sent);
  if (answer.status !== 200) throw new Error(`${sent.line} was answered ${answer.status}`);
  return answer;
}
