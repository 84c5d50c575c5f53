// Answers a caller whose bytes are not HTTP, or do not arrive in time.
import type { Socket } from 'node:net';
import { type Answer, errorAnswer } from './answers.ts';
import type { Connections } from './connections.ts';
import type { HttpSettings } from './http-settings.ts';

/** Ends a connection with an answer to the client error, after the answers to the requests before it. */
export function breakOff(
  connections: Connections,
  socket: Socket,
  error: NodeJS.ErrnoException,
  settings: HttpSettings,
): void {
  const answer = clientErrorAnswer(error.code ?? '', settings);
  if (answer === undefined) socket.destroy();
  else connections.breakOff(socket, answer);
}

/** Returns the answer to a client error; undefined if the connection is gone. */
function clientErrorAnswer(code: string, settings: HttpSettings): Answer | undefined {
  switch (code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return errorAnswer(408, 'The request took too long to arrive.');
    case 'HPE_HEADER_OVERFLOW':
      return errorAnswer(
        431,
        `The request line and the headers are longer than ${settings.headerBytesMax} bytes.`,
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return errorAnswer(413, 'The extensions of the chunks are too long.');
    default:
      return errorAnswer(400, 'The request is not HTTP/1.1.');
  }
}
