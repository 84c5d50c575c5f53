// Target: where a request is sent: the process, or a service that was found. It gives connections, and knows which answer a
// failure of one is.
import type { ClientConnection, ClientFailure } from '@svc/http1';
import { answer, type Answerer, type ProxyAnswer } from './answers.ts';
import type { OwnAnswer } from './own-answer.ts';
import type { Responder } from './response-fields.ts';

export type TargetOutcome =
  | { readonly connection: ClientConnection }
  | { readonly connection: undefined; readonly answer: OwnAnswer };

export interface TargetTaking {
  /** Opens a new connection even if another one is idle. */
  readonly fresh: boolean;
  /** Whether the request may be sent once more if the connection closes before the response. */
  readonly canRepeat: boolean;
}

export interface Target {
  readonly responder: Responder;
  /**
   * Gives a connection, perhaps at once; it has to be used in the turn in which it is given. Returns the function that
   * cancels: `taken` is then not called.
   */
  take(taking: TargetTaking, taken: (outcome: TargetOutcome) => void): () => void;
  /** Returns the answer to a request whose connection has failed before a response. */
  answerTo(failure: ClientFailure): OwnAnswer;
  /** Called once, when the request is answered, has failed, or its client is gone. Absent: the target need not know. */
  ended?(): void;
}

/** Returns the answer where a peer was connected, and did not respond as it should. */
export function answerToPeer(
  failure: ClientFailure,
  answerer: Answerer,
  timeoutMs: number,
): ProxyAnswer | undefined {
  switch (failure.kind) {
    case 'closed-before-response':
    case 'closed-while-answering':
      return answer('closed-before-answering', { answerer });
    case 'protocol':
      return answer('response-malformed', { answerer, failure: failure.failure });
    case 'response-timeout':
      return answer('answer-timed-out', { answerer, timeoutMs });
    case 'refused':
    case 'unreachable':
    case 'connect-timeout':
    case 'identity':
      return undefined;
  }
}
