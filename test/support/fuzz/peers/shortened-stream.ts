// ShortenedStream: the shortest stream with a problem that leaving parts out finds, within a number of attempts.

export interface ProblematicStream {
  readonly stream: Buffer;
  readonly problem: string;
}

const ATTEMPTS_MAX = 300;

/** Returns undefined if the whole stream has no problem. */
export async function shortened(
  whole: Buffer,
  problemOf: (stream: Buffer) => Promise<string | undefined>,
): Promise<ProblematicStream | undefined> {
  const first = await problemOf(whole);
  if (first === undefined) return undefined;
  let found: ProblematicStream = { stream: whole, problem: first };
  let attempts = 0;
  for (let size = whole.length >> 1; size >= 1; size >>= 1)
    for (let at = 0; at < found.stream.length && attempts < ATTEMPTS_MAX; attempts++) {
      const { stream } = found;
      const candidate = Buffer.concat([stream.subarray(0, at), stream.subarray(at + size)]);
      const problem = await problemOf(candidate);
      if (problem === undefined) at += size;
      else found = { stream: candidate, problem };
    }
  return found;
}
