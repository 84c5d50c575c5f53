// ResponseStream: the final responses that a client has received on one connection. It is read in another way than the
// proxy reads responses.

export interface ReadResponse {
  readonly status: number;
  /** Value of X-Report. */
  readonly report: string | undefined;
  /** Whether it is an answer of the proxy. */
  readonly isOfProxy: boolean;
  /** In latin1, without the framing. Empty if it is not complete. */
  readonly body: string;
}

const HEAD = /^HTTP\/1\.[01] ([1-9]\d\d)[^\r\n]*\r\n((?:[^\r\n:]+:[^\r\n]*\r\n)*)\r\n/;

/**
 * Reads the responses to requests with these methods, and those after them. A body that is not complete ends the stream.
 * Throws an error if something else than a response was received.
 */
export function readFinalResponses(received: string, methods: readonly string[]): ReadResponse[] {
  const responses: ReadResponse[] = [];
  let rest = received;
  while (rest !== '') {
    const match = HEAD.exec(rest);
    if (match === null)
      throw new Error(
        `the client received what is no response: ${JSON.stringify(rest.slice(0, 80))}`,
      );
    const [head, digits, lines] = match as unknown as readonly [string, string, string];
    rest = rest.slice(head.length);
    const status = Number(digits);
    if (status < 200) continue;
    const isBodyless = methods[responses.length] === 'HEAD' || status === 204 || status === 304;
    const read = isBodyless ? { body: '', rest } : readBody(rest, lines);
    ({ rest } = read);
    responses.push({
      status,
      report: valueOf(lines, 'x-report'),
      isOfProxy: valueOf(lines, 'x-svc-answered-by') === 'proxy',
      body: read.body,
    });
  }
  return responses;
}

function valueOf(lines: string, name: string): string | undefined {
  return new RegExp(`^${name}: ?(.*)\r$`, 'im').exec(lines)?.[1];
}

interface ReadBody {
  readonly body: string;
  /** What follows the body. */
  readonly rest: string;
}

const INCOMPLETE: ReadBody = { body: '', rest: '' };

function readBody(text: string, lines: string): ReadBody {
  const length = valueOf(lines, 'content-length');
  if (length !== undefined) {
    const bytes = Number(length);
    if (text.length < bytes) return INCOMPLETE;
    return { body: text.slice(0, bytes), rest: text.slice(bytes) };
  }
  if (valueOf(lines, 'transfer-encoding') !== 'chunked') return { body: text, rest: '' };
  const chunks: string[] = [];
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (lineEnd === -1 || !(size >= 0)) return INCOMPLETE;
    at = lineEnd + 2;
    if (size === 0) {
      const end = text.indexOf('\r\n\r\n', at - 2);
      return end === -1 ? INCOMPLETE : { body: chunks.join(''), rest: text.slice(end + 4) };
    }
    chunks.push(text.slice(at, at + size));
    at += size + 2;
  }
}
