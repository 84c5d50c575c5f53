// ControlClient asks a running host for a change, over its control socket.
import { request } from 'node:http';
import { controlSocketProblem } from './control-socket.ts';
import { SvcError } from './svc-error.ts';

/** `body`: JSON text. */
export interface ControlAnswer {
  readonly status: number;
  readonly body: string;
}

const DEADLINE_MS = 15_000;
const ANSWER_BYTES_MAX = 1024 * 1024;

/**
 * Sends a request, and resolves with the answer. `socket`: a path from a file, which is checked. `body`: undefined for a
 * request that only reads. Rejects with SVC_CONTROL_UNAVAILABLE if the host cannot be reached or its answer does not
 * arrive, and with SVC_ANSWER_TIMED_OUT.
 */
export async function sendControl(
  socket: string,
  path: string,
  body?: object,
): Promise<ControlAnswer> {
  const problem = controlSocketProblem(socket);
  if (problem !== undefined) throw unavailable(socket, problem);
  const { promise, resolve, reject } = Promise.withResolvers<ControlAnswer>();
  const text = body === undefined ? '' : JSON.stringify(body);
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const outgoing = request({
    socketPath: socket,
    agent: false,
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers: {
      host: 'localhost',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    },
    signal,
  });
  const failed = (error: NodeJS.ErrnoException) =>
    reject(signal.aborted ? late() : unavailable(socket, error.code ?? error.message));
  outgoing.on('error', failed);
  outgoing.on('upgrade', (_answer, connection) => {
    connection.destroy();
    reject(unavailable(socket, 'it does not answer as a host does'));
  });
  outgoing.on('response', (incoming) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on('error', failed);
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= ANSWER_BYTES_MAX) return;
      reject(unavailable(socket, `its answer is larger than ${ANSWER_BYTES_MAX} bytes`));
      outgoing.destroy();
    });
    incoming.on('end', () =>
      resolve({ status: incoming.statusCode!, body: Buffer.concat(chunks).toString('utf8') }),
    );
  });
  outgoing.end(text);
  return promise;
}

function unavailable(socket: string, reason: string): SvcError {
  return new SvcError(
    'SVC_CONTROL_UNAVAILABLE',
    `The control socket ${socket} of the running host cannot be used: ${reason}. ` +
      'Run the command as the user who runs the host, and where the host runs, or stop the host first.',
  );
}

function late(): SvcError {
  return new SvcError(
    'SVC_ANSWER_TIMED_OUT',
    `The running host has not answered within ${DEADLINE_MS / 1000} s. It may still make the change: look before you ask again.`,
  );
}
