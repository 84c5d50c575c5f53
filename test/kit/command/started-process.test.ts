// The process that a sidecar starts: its output, its end, and which process gets its signals.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isProcessAlive } from '../../../kit/process-life.ts';
import { StartedProcess } from '../../../kit/command/started-process.ts';

const SETTING = 'svc.proxy.process-file';

interface Run {
  readonly process: StartedProcess;
  readonly lines: [stream: string, line: string][];
  /** Resolves with the line once it was written. */
  readonly line: (pattern: RegExp) => Promise<string>;
}

async function start(
  command: readonly [string, ...string[]],
  env: Record<string, string> = {},
): Promise<Run> {
  const lines: [string, string][] = [];
  const process = await StartedProcess.start({ setting: SETTING, command, env }, (...line) =>
    lines.push(line),
  );
  onTestFinished(() => process.kill());
  const find = (pattern: RegExp) => lines.find(([, line]) => pattern.test(line))?.[1];
  return {
    process,
    lines,
    line: (pattern) => vi.waitUntil(() => find(pattern), { timeout: 10_000, interval: 5 }),
  };
}

const sh = (script: string): readonly [string, ...string[]] => ['/bin/sh', '-c', script];

describe('a command', () => {
  test('has exactly the environment that it is given, and empty input', async () => {
    const { process, lines } = await start(['/usr/bin/env'], { A: 'b c', PORT: '8080' });
    await process.ended;
    expect(lines.map(([, line]) => line).toSorted()).toEqual(['A=b c', 'PORT=8080']);
    const reader = await start(sh('read x || echo "end of input"'));
    await reader.process.ended;
    expect(reader.lines).toEqual([['stdout', 'end of input']]);
  });

  test('has its output reported by lines, also one without an end, and in parts if it is long', async () => {
    const script = `echo a; echo b >&2; head -c 20000 /dev/zero | tr '\\0' x; printf c`;
    const { process, lines } = await start(sh(script), { PATH: '/usr/bin:/bin' });
    await process.ended;
    const out = lines.filter(([stream]) => stream === 'stdout').map(([, line]) => line);
    expect(out.map((line) => line.length)).toEqual([1, 8192, 8192, 3617]);
    expect(lines).toContainEqual(['stderr', 'b']);
  });

  test.each([
    ['exit 3', { how: 'with exit code 3', lastLine: undefined }],
    ['echo "  a"; echo', { how: 'with exit code 0', lastLine: 'a' }],
    [
      String.raw`printf 'Error: no database\n    at a.js:1\n\nNode.js v26.10.0\n'`,
      { how: 'with exit code 0', lastLine: 'Error: no database' },
    ],
    ['kill -SEGV $$', { how: 'by SIGSEGV', lastLine: undefined }],
    // Only bubblewrap stands for a signal by its exit code.
    ['exit 139', { how: 'with exit code 139', lastLine: undefined }],
    [`printf '\\033[31mred\\n'`, { how: 'with exit code 0', lastLine: '\\u{1b}[31mred' }],
  ])('that runs %j reports how it has ended', async (script, end) => {
    expect(await (await start(sh(script))).process.ended).toEqual(end);
  });

  test('that cannot be started is refused without its path', async () => {
    await expect(start(['/none/secret'])).rejects.toMatchObject({
      code: 'SVC_COMMAND_NOT_STARTED',
      message:
        'The command of the process was not started: the system says ENOENT. Look at "command" in the file that svc.proxy.process-file names.',
    });
    const huge = 'x'.repeat(4 * 1024 * 1024);
    await expect(start(['/bin/true', huge])).rejects.toMatchObject({
      code: 'SVC_COMMAND_NOT_STARTED',
      message: expect.stringContaining('E2BIG'),
    });
  });

  test('gets SIGTERM with its whole group, and SIGKILL if it stays', async () => {
    // The child names itself: a signal that comes before it has begun would be lost with the handler of its parent.
    const child = `sh -c 'echo child $$; exec sleep 100'`;
    const script = `trap 'echo asked' TERM; ${child} & wait; while :; do sleep 1; done`;
    const { process, line } = await start(sh(script), { PATH: '/usr/bin:/bin' });
    const childId = Number((await line(/^child/)).split(' ')[1]);
    process.terminate();
    await line(/^asked$/);
    await vi.waitUntil(() => !isRunning(childId), { timeout: 10_000 });
    process.kill();
    expect((await process.ended).how).toBe('by SIGKILL');
  });

  test('leaves nothing of its group behind', async () => {
    const { process, line } = await start(sh('sleep 100 & echo child $!'), {
      PATH: '/usr/bin:/bin',
    });
    const child = Number((await line(/^child/)).split(' ')[1]);
    await process.ended;
    await vi.waitFor(() => expect(isRunning(child)).toBe(false));
  });
});

/** A shell that does as bubblewrap: it starts a program, writes its id to file descriptor 3, and ends when that does. */
const likeBubblewrap = (program: string) =>
  sh(
    `sh -c '${program}' 3>&- & printf '{ "child-pid": %s }' $! >&3; exec 3>&-; echo named; while kill -0 $! 2>/dev/null; do wait $!; code=$?; done; exit $code`,
  );
const PATH = { PATH: '/usr/bin:/bin' };

describe('a command that names its child at file descriptor 3', () => {
  test('gets no SIGTERM itself: the child does', async () => {
    const program = 'trap "echo asked; exit 0" TERM; echo up; while :; do sleep 0.05; done';
    const { process, line, lines } = await start(likeBubblewrap(program), PATH);
    await Promise.all([line(/^up$/), line(/^named$/)]);
    process.terminate();
    expect(await process.ended).toEqual({ how: 'with exit code 0', lastLine: 'asked' });
    expect(lines).toContainEqual(['stdout', 'asked']);
  });

  test('is said to have ended by the signal that has ended the child', async () => {
    const { process } = await start(likeBubblewrap('sleep 0.2; kill -SEGV $$'), PATH);
    expect((await process.ended).how).toBe('by SIGSEGV');
  });

  test.each([
    ['the id of another process', '{ "child-pid": OTHER }'],
    ['the id of no process', '{ "child-pid": 4194304 }'],
    ['process 1', '{ "child-pid": 1 }'],
    ['no number', '{ "child-pid": "-1" }'],
    ['no object', 'null'],
    ['an endless text', '"xxxx"'],
  ])('is the one that gets SIGTERM if what it writes is %s', async (_what, info) => {
    const other = spawn('/bin/sleep', ['100']);
    onTestFinished(() => void other.kill('SIGKILL'));
    await once(other, 'spawn');
    const text = info.replace('OTHER', String(other.pid)).replace('xxxx', 'x'.repeat(100_000));
    const script = `trap "exit 7" TERM; printf '%s' '${text}' >&3; echo up; while :; do sleep 0.05; done`;
    const { process, line } = await start(sh(script), PATH);
    await line(/^up$/);
    process.terminate();
    expect((await process.ended).how).toBe('with exit code 7');
    expect(isProcessAlive(other.pid!)).toBe(true);
  });
});

test('a process that has ended gets no signal', async () => {
  const { process } = await start(sh('exit 0'));
  await process.ended;
  const sent = vi.spyOn(globalThis.process, 'kill');
  onTestFinished(() => sent.mockRestore());
  process.terminate();
  process.kill();
  expect(sent).not.toHaveBeenCalled();
});

/** Returns whether a process runs; one that has ended and that nobody has waited for does not. */
function isRunning(id: number): boolean {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return isProcessAlive(id);
  }
}
