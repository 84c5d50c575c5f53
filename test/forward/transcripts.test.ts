// The contract grows by addition only: each line that a process, a mounted or a called service ever received is still there,
// unchanged and in its order. A version that adds lines records them in a folder of its own.
import { describe, expect, test } from 'vitest';
import { TRANSCRIPT_VERSIONS, receivedLines, transcriptsOf } from './support/transcripts.ts';

/** Returns the recorded lines that are missing, or are not in their order. */
function lostLines(recorded: readonly string[], received: readonly string[]): readonly string[] {
  let at = 0;
  return recorded.filter((line) => {
    const found = received.indexOf(line, at);
    if (found !== -1) at = found + 1;
    return found === -1;
  });
}

describe.each(TRANSCRIPT_VERSIONS)('the transcripts of %s', (version) => {
  test.each(transcriptsOf(version))('no line is lost: $name', (transcript) => {
    expect(lostLines(transcript.receives, receivedLines(transcript))).toEqual([]);
  });
});

test.each(transcriptsOf(TRANSCRIPT_VERSIONS.at(-1) ?? ''))(
  'the latest transcript has every line: $name',
  (transcript) => {
    expect(receivedLines(transcript)).toEqual(transcript.receives);
  },
);

test('a changed, a removed or a moved line is noticed, and an added one is not', () => {
  expect(lostLines(['a', 'b'], ['a', 'x', 'b', 'y'])).toEqual([]);
  expect(lostLines(['a', 'b'], ['a', 'c'])).toEqual(['b']);
  expect(lostLines(['a', 'b'], ['b', 'a'])).toEqual(['b']);
  expect(lostLines(['a', 'a'], ['a'])).toEqual(['a']);
});

test('there are transcripts of everybody who receives requests', () => {
  const all = transcriptsOf(TRANSCRIPT_VERSIONS[0]!);
  expect(
    all.filter(({ from, to }) => from !== undefined && to === undefined).length,
  ).toBeGreaterThan(9);
  expect(
    all.filter(({ from, to }) => from !== undefined && to !== undefined).length,
  ).toBeGreaterThan(3);
  expect(all.filter(({ from }) => from === undefined).length).toBeGreaterThan(3);
});
