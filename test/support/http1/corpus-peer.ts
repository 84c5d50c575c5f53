// CorpusPeer: the side behind a program that forwards requests, in the tests that send the corpus through it, and what has to be seen there and
// in front.
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import { bytesOf, type CorpusCase, readRequests, readResponses } from './corpus.ts';
import { expectedOf, inParts, outcomeOf, refusedCases, responseCases } from './corpus-outcomes.ts';

/** Sends bytes to the program on a connection of their own, ends the side of the client, and returns all that is received. */
type Exchange = (bytes: Buffer) => Promise<string>;

export class CorpusPeer {
  /** What has arrived, a text for each connection. */
  readonly arrived: { text: string }[] = [];
  /** What is sent for a path, before the side of the peer ends. */
  readonly responses = new Map<string, Buffer>();

  /** Takes the bytes of a connection as they are. */
  readonly serve = (socket: Socket): void => {
    const connection = { text: '' };
    this.arrived.push(connection);
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      connection.text += bytes.toString('latin1');
      const response = this.responses.get(connection.text.split(' ', 2)[1] ?? '');
      if (response !== undefined && connection.text.includes('\r\n\r\n')) socket.end(response);
    });
  };
}

/** Expects each request with a refused head to be answered by the program, and to arrive nowhere. Returns how many there are. */
export async function expectHeadsRefused(
  peer: CorpusPeer,
  exchange: Exchange,
  answeredBy: string,
): Promise<number> {
  const cases = refusedCases(false);
  const before = peer.arrived.length;
  await inParts(cases, async ({ name, in: input }) => {
    const [expected] = readRequests([bytesOf(input)]);
    const [answer, ...more] = readResponses([
      { method: 'GET', pieces: [Buffer.from(await exchange(bytesOf(input)), 'latin1')] },
    ]);
    expect({ name, status: answer!['status'], fields: answer!['fields'], more }).toEqual({
      name,
      status: Number(expected!.fails!.split(' ', 1)[0]),
      fields: expect.arrayContaining(['X-Svc-Answered-By', answeredBy, 'Connection', 'close']),
      more: [],
    });
    expect(Object.keys(JSON.parse(answer!.body) as object)).toEqual(['error']);
  });
  expect(peer.arrived.length).toBe(before);
  return cases.length;
}

/** Returns what has arrived since there were `before` connections. Expects each to be one request that does not end validly. */
export function expectUnfinished(
  peer: CorpusPeer,
  before: number,
): readonly { readonly text: string }[] {
  const reached = peer.arrived.slice(before).filter(({ text }) => text !== '');
  for (const { text } of reached) {
    const read = readRequests([Buffer.from(text, 'latin1')]);
    expect(read).toHaveLength(1);
    expect({ text, fails: read[0]!.fails !== undefined }).toEqual({ text, fails: true });
  }
  return reached;
}

/** Expects each response that is refused to become 502 or to break off, and any other one to pass. Returns how many there are. */
export async function expectResponsesJudged(
  peer: CorpusPeer,
  exchange: Exchange,
  host: string,
): Promise<number> {
  const judge = async (
    { name, in: input, to = ['GET'] }: CorpusCase,
    path: string,
  ): Promise<void> => {
    const method = to[0]!;
    peer.responses.set(path, bytesOf(input));
    const received = await exchange(
      Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`),
    );
    const read = (bytes: Buffer) =>
      readResponses([{ method, pieces: [bytes] }]).filter((one) => one['informational'] !== true);
    const [expected] = read(bytesOf(input));
    const [actual, ...more] = read(Buffer.from(received, 'latin1'));
    expect({ name, more }).toEqual({ name, more: [] });
    expect({ name, outcome: outcomeOf(actual) }).toEqual({ name, outcome: expectedOf(expected) });
  };
  const cases = [...responseCases().entries()];
  // A request that is not sent again fails on a connection that the peer is just ending, so it goes where none is kept: first.
  for (const [index, one] of cases) if (!isSentAgain(one)) await judge(one, `/${index}`);
  await inParts(
    cases.filter(([, one]) => isSentAgain(one)),
    ([index, one]) => judge(one, `/${index}`),
  );
  return cases.length;
}

/** Whether a request of the case is sent once more where no answer comes. */
function isSentAgain({ to = ['GET'] }: CorpusCase): boolean {
  return ['GET', 'HEAD'].includes(to[0]!);
}
