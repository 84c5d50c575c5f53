// CorpusOutcomes: what becomes of the messages of the corpus on their way through a program that forwards them.
import { bytesOf, type CorpusCase, corpusCases, type ReadMessage, readRequests } from './corpus.ts';

const AT_ONCE = 16;
const REQUESTS = ['request-lines', 'targets', 'hosts', 'fields', 'framing', 'chunks'];
const RESPONSES = ['status-lines', 'response-framing'];

/** The requests of the corpus of which the first one fails, before or after its head is complete. */
export function refusedCases(isHeadRead: boolean): readonly CorpusCase[] {
  return REQUESTS.flatMap((file) => corpusCases(`${file}.json`)).filter(({ in: input }) => {
    const [first] = readRequests([bytesOf(input)]);
    return first?.fails !== undefined && (first['method'] !== undefined) === isHeadRead;
  });
}

/** The responses of the corpus to a single request. */
export function responseCases(): readonly CorpusCase[] {
  return RESPONSES.flatMap((file) => corpusCases(`${file}.json`)).filter(
    ({ to = ['GET'] }) => to.length === 1,
  );
}

/** Runs a function for each item, several at the same time. */
export async function inParts<Item>(
  items: readonly Item[],
  run: (item: Item) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE)
    await Promise.all(items.slice(at, at + AT_ONCE).map(run));
}

/** The outcome at the client: what it has read, or that the response broke off. */
export function outcomeOf(read: ReadMessage | undefined): unknown {
  if (read === undefined || read.fails !== undefined) return 'broken';
  return { status: read['status'], body: read['status'] === 502 ? '' : read.body };
}

/** The outcome that a response has to have: bytes behind it are no part of it. */
export function expectedOf(response: ReadMessage | undefined): unknown {
  if (response?.['status'] === undefined) return { status: 502, body: '' };
  const { fails, ...rest } = response;
  return outcomeOf(fails === 'unsolicited' ? rest : response);
}
