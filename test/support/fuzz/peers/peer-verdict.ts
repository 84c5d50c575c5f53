// PeerVerdict: whether a server has received the requests that the proxy has accepted, and no other ones.
import { type ReadMessage, readRequests } from '../../http1/corpus.ts';
import type { LaneResult } from './peer-lane.ts';
import { type ReadResponse, readFinalResponses } from '../../http1/response-stream.ts';
import { toleratedRefusal } from './tolerated-refusals.ts';

/** A request as the proxy reads it. */
export interface ExpectedRequest {
  readonly method: string;
  /** Target in the form in which it is forwarded. */
  readonly target: string;
  readonly version: string;
  /** Name, value, name, value and so on. */
  readonly fields: readonly string[];
  /** In latin1. */
  readonly body: string;
  readonly keepsOpen: boolean;
  /** Host to which it is addressed. */
  readonly authority: string;
}

export interface ExpectedStream {
  /** Requests that have to be answered. */
  readonly requests: readonly ExpectedRequest[];
  /** Whether something follows them that is not a complete request. */
  readonly isBroken: boolean;
}

export interface Verdict {
  readonly problem?: string;
  /**
   * Whether the problem may be that the server has closed an idle connection at the moment at which the proxy used it for a
   * request that is not sent twice. Such a problem does not repeat itself.
   */
  readonly mayBeIdleEnd?: boolean;
  /** Names of the refusals that were tolerated. */
  readonly tolerated: readonly string[];
}

export function expectedOf(stream: Buffer): ExpectedStream {
  const requests: ExpectedRequest[] = [];
  for (const message of readRequests([stream])) {
    if (message.fails !== undefined) return { requests, isBroken: true };
    const request = requestOf(message);
    requests.push(request);
    if (!request.keepsOpen) break;
  }
  return { requests, isBroken: false };
}

function requestOf(message: ReadMessage): ExpectedRequest {
  return {
    method: message['method'] as string,
    target: message['path'] as string,
    version: message['version'] as string,
    fields: message['fields'] as readonly string[],
    body: message.body,
    keepsOpen: message['keepsOpen'] as boolean,
    authority: message['authority'] as string,
  };
}

/** The report of a server that has received the request. */
function reportOf({ method, target, body }: ExpectedRequest): string {
  return `${method} ${target} local =${Buffer.from(body, 'latin1').toString('hex')}`;
}

export function judge(
  server: string,
  { requests, isBroken }: ExpectedStream,
  result: LaneResult,
): Verdict {
  const tolerated: string[] = [];
  let responses: readonly ReadResponse[];
  try {
    const methods = requests.map(({ method }) => method);
    responses = readFinalResponses(result.received.toString('latin1'), methods);
  } catch (error) {
    return { problem: (error as Error).message, tolerated };
  }
  const problem = (text: string): Verdict => ({ problem: text, tolerated });
  for (const [index, request] of requests.entries()) {
    const response = responses[index];
    // A server that refuses a request may have its connection closed, and then that of the client closes too.
    if (response === undefined && tolerated.length > 0) break;
    if (response === undefined)
      return problem(`request ${index + 1} of ${requests.length} has no response`);
    const { status, report } = response;
    if (report !== undefined) {
      if (report === reportOf(request)) continue;
      return problem(`request ${index + 1} is ${reportOf(request)}, and the server got ${report}`);
    }
    const isClosed = response.isOfProxy && status === 502;
    const reason =
      response.isOfProxy && !isClosed
        ? undefined
        : toleratedRefusal(server, request, isClosed ? 'closes' : status);
    if (reason === undefined && isClosed && !/^(?:GET|HEAD)$/.test(request.method))
      return {
        ...problem(`request ${index + 1} (${reportOf(request)}) has its connection closed`),
        mayBeIdleEnd: true,
      };
    if (reason === undefined)
      return problem(
        `request ${index + 1} (${reportOf(request)}) is answered ${status}${response.isOfProxy ? ' by the proxy' : ''}`,
      );
    tolerated.push(reason);
  }
  const more = responses.slice(requests.length);
  if (more.length > 0 && !isBroken) return problem(`there are ${more.length} further responses`);
  const taken = more.find(({ report }) => report !== undefined);
  if (taken !== undefined) return problem(`what is no request was taken for one: ${taken.report!}`);
  // The server may answer a request that is not complete, and the client then gets that answer or the proxy's.
  const answered = responses.filter(({ isOfProxy }) => !isOfProxy).length + (isBroken ? 1 : 0);
  if (result.responses > answered)
    return problem(`the server sent ${result.responses} responses, and the client got ${answered}`);
  return { tolerated };
}
