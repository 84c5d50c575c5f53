// ResponseStream: the final responses that a client has received on one connection. It is read in another way than the
// proxy reads responses.

export interface ReadResponse {
  readonly status: number;
  /** Value of X-Report. */
  readonly report: string | undefined;
  /** Whether it is an answer of the proxy. */
  readonly isOfProxy: boolean;
}

const HEAD = /^HTTP\/1\.[01] ([1-9]\d\d)[^\r\n]*\r\n((?:[^\r\n:]+:[^\r\n]*\r\n)*)\r\n/;
const CHUNK = /^([0-9a-f]+)\r\n/i;

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
    const isOfProxy = valueOf(lines, 'x-svc-answered-by') === 'proxy';
    responses.push({ status, report: valueOf(lines, 'x-report'), isOfProxy });
    const isBodyless = methods[responses.length - 1] === 'HEAD' || status === 204 || status === 304;
    if (!isBodyless) rest = afterBody(rest, lines);
  }
  return responses;
}

function valueOf(lines: string, name: string): string | undefined {
  return new RegExp(`^${name}: ?(.*)\r$`, 'im').exec(lines)?.[1];
}

function afterBody(text: string, lines: string): string {
  const length = valueOf(lines, 'content-length');
  if (length !== undefined) return text.slice(Number(length));
  if (valueOf(lines, 'transfer-encoding') !== 'chunked') return '';
  let rest = text;
  for (;;) {
    const [line, size] = CHUNK.exec(rest) ?? [];
    if (line === undefined || size === undefined) return '';
    if (Number.parseInt(size, 16) === 0) return rest.slice(rest.indexOf('\r\n\r\n') + 4);
    rest = rest.slice(line.length + Number.parseInt(size, 16) + 2);
  }
}
