// The copy command: the committed programs are those that the compiler makes of the source, and they do what they should.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const source = join(import.meta.dirname, '..', '..', 'images', 'copy');
/** The compiler with which the committed programs were made: others may make other code. */
const COMPILER = /^12\./;
const OWN = process.arch === 'arm64' ? 'arm64' : 'amd64';
const QEMU = { amd64: 'qemu-x86_64-static', arm64: 'qemu-aarch64-static' };
const GCC = { amd64: 'x86_64-linux-gnu-gcc', arm64: 'aarch64-linux-gnu-gcc' };

/** The output of a program that exists and succeeds. */
function outputOf(program: string, words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, words, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function whyNotRun(architecture: 'amd64' | 'arm64'): string | undefined {
  if (process.platform !== 'linux') return 'the programs are for Linux';
  if (architecture === OWN || outputOf(QEMU[architecture], ['--version']) !== undefined)
    return undefined;
  return `there is no ${QEMU[architecture]} (Debian: qemu-user-static)`;
}

function whyNotCompared(architecture: 'amd64' | 'arm64'): string | undefined {
  const found = outputOf(GCC[architecture], ['-dumpfullversion']);
  if (found === undefined)
    return `there is no ${GCC[architecture]} (Debian: gcc, gcc-aarch64-linux-gnu)`;
  return COMPILER.test(found) ? undefined : `${GCC[architecture]} is ${found}, not 12`;
}

describe.each(['amd64', 'arm64'] as const)('the program for %s', (architecture) => {
  const program = join(source, `copy-${architecture}`);
  const notCompared = whyNotCompared(architecture);
  const notRun = whyNotRun(architecture);
  for (const reason of [notCompared, notRun])
    if (reason !== undefined) console.log(`copy-${architecture} not tested: ${reason}`);
  const run = (...words: readonly string[]) => {
    const [command, ...before] = architecture === OWN ? [program] : [QEMU[architecture], program];
    const { status, stderr } = spawnSync(command, [...before, ...words], { encoding: 'utf8' });
    return { status, stderr };
  };

  test.skipIf(notCompared !== undefined)('is what the compiler makes of the source', () => {
    const folder = temporaryFolder();
    const built = spawnSync('sh', [join(source, 'build.sh'), folder, architecture], {
      encoding: 'utf8',
    });
    expect(built).toMatchObject({ status: 0, stderr: '' });
    const again = readFileSync(join(folder, `copy-${architecture}`));
    expect(again.equals(readFileSync(program))).toBe(true);
  });

  test.skipIf(notRun !== undefined)('copies a file, and overwrites the target', () => {
    const folder = temporaryFolder();
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    for (const size of [300_000, 65_536, 5, 0]) {
      writeFileSync(from, Buffer.alloc(size, `${size}.`));
      expect(run(from, to)).toEqual({ status: 0, stderr: '' });
      expect(readFileSync(to).equals(readFileSync(from))).toBe(true);
    }
  });

  test.skipIf(notRun !== undefined).each([
    ['a source that is missing', ['/none', '/tmp/never'], 'the source cannot be opened'],
    ['a folder as its source', ['/', '/dev/null'], 'the source cannot be read'],
    ['a target in no folder', ['/proc/self/stat', '/none/to'], 'the target cannot be opened'],
    ['a full disk', ['/proc/self/stat', '/dev/full'], 'the target cannot be written'],
    ['one word', ['/proc/self/stat'], 'usage: copy SOURCE TARGET'],
  ])('reports %s', (_what, words, reason) => {
    expect(run(...words)).toEqual({ status: 1, stderr: `copy: ${reason}\n` });
  });
});
