// What a program of an image sees and may do in its sandbox: real bubblewrap, with the programs of this machine as its image.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  argumentsFile,
  type SandboxedProgram,
  sandboxArguments,
} from '../../../../control-plane/local/sandbox/bubblewrap.ts';
import {
  podCommand,
  sandboxed as keptSandbox,
} from '../../../../control-plane/local/sandbox/pod-files.ts';
import type { InstanceFolder } from '../../../../control-plane/local/instance-folder.ts';
import { onlyGrandchildOf } from '../../../../kit/process-start.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { emptyRoot, noSandbox, sandbox } from './support.ts';

const USR = { '/usr': '/usr' };

/** Runs a shell script in a sandbox, as a control plane does, and resolves with what it prints. */
async function inSandbox(script: string, program?: Partial<SandboxedProgram>): Promise<string> {
  return (await sandboxed(script, program)).stdout;
}

async function sandboxed(script: string, program?: Partial<SandboxedProgram>) {
  const file = join(temporaryFolder(), 'arguments');
  const args = sandboxArguments({
    root: emptyRoot(),
    hostname: 'cart-1',
    user: { uid: 1000, gid: 1001 },
    workingDir: '/',
    env: { PATH: '/usr/bin' },
    readable: USR,
    writable: {},
    ...program,
  });
  writeFileSync(file, argumentsFile(args));
  const command = [
    '--user',
    '--map-root-user',
    '--net',
    'sh',
    '-c',
    'exec bwrap --args 8 -- sh -c "$1" 8<"$0"',
  ];
  return await promisify(execFile)('unshare', [...command, file, script], { timeout: 20_000 });
}

describe.skipIf(noSandbox !== undefined)('a program in a sandbox', () => {
  test('has the files of its image, and nothing else of this machine', async () => {
    expect(await inSandbox('ls -A /; ls -A /run /tmp; cat /etc/hosts')).toBe(
      'bin\ndev\netc\nlib\nlib64\nproc\nrun\ntmp\nusr\n/run:\n\n/tmp:\n',
    );
    const folder = temporaryFolder();
    expect(await inSandbox(`ls ${folder} 2>/dev/null || echo none`)).toBe('none\n');
  });

  test.each([
    '/x',
    '/etc/x',
    '/usr/x',
    '/dev/x',
    '/proc/sys/kernel/hostname',
    '/proc/sys/kernel/core_pattern',
    '/proc/sysrq-trigger',
    '/proc/irq/default_smp_affinity',
  ])('cannot open %s to write', async (path) => {
    expect(await inSandbox(`(: >>${path}) 2>/dev/null && echo opened || echo refused`)).toBe(
      'refused\n',
    );
  });

  test('writes to what it is given, and to temporary folders that are bounded', async () => {
    const data = temporaryFolder();
    mkdirSync(join(data, 'inside'));
    const script = `
      echo kept >/run/svc/data/inside/file
      head -c 70000000 /dev/zero >/tmp/large 2>/dev/null || echo full
      rm /tmp/large; head -c 70000000 /dev/zero >/dev/shm/large 2>/dev/null || echo full`;
    expect(await inSandbox(script, { writable: { '/run/svc/data': data } })).toBe('full\nfull\n');
    expect(readFileSync(join(data, 'inside', 'file'), 'utf8')).toBe('kept\n');
  });

  test('is process 1, sees no other one, and has no rights', async () => {
    const script =
      'echo $$; ls /proc | grep -c "^[0-9]"; id -u; id -g; hostname; grep CapBnd /proc/self/status; grep NoNewPrivs /proc/self/status';
    expect(await inSandbox(script)).toMatch(
      /^1\n[1-4]\n1000\n1001\ncart-1\nCapBnd:\t0+\nNoNewPrivs:\t1\n$/,
    );
  });

  test.each([
    'unshare --user true',
    'mount -t tmpfs none /tmp',
    'ip link set lo down',
    'chroot / true',
    'mknod /tmp/device c 1 3',
    'nsenter --target 1 --net true',
  ])('may not run %s', async (command) => {
    expect(await inSandbox(`${command} >/dev/null 2>&1 && echo done || echo refused`)).toBe(
      'refused\n',
    );
  });

  test('has its own variables alone, which bubblewrap itself does not have', async () => {
    const env = { PATH: '/usr/bin', LD_PRELOAD: '/missing.so', GREETING: 'a\nb "c" $d' };
    const { stdout, stderr } = await sandboxed('exec env', { env });
    expect(stdout).toBe(`GREETING=a\nb "c" $d\nPATH=/usr/bin\nLD_PRELOAD=/missing.so\nPWD=/\n`);
    // The loader complains in the sandbox alone: about the shell, and about the program that it runs.
    expect(stderr.match(/cannot be preloaded/g)).toHaveLength(2);
  });

  test('shows none of its variables to other users of this machine', async () => {
    const env = { PATH: '/usr/bin', PASSWORD: 'correct-horse-battery' };
    const shown = inSandbox('sleep 0.7', { env });
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'sleep 0.3; ps -eo args | grep -v grep | grep -c "correct-horse" || true',
    ]);
    expect(stdout).toBe('0\n');
    await shown;
  });

  test('ends with the process that keeps its sandbox, though it does not want to end with its parent', async () => {
    const folder = temporaryFolder();
    const started = join(folder, 'started');
    const spec = { name: 'cart-1', descriptor: {} } as InstanceFolder['spec'];
    const tools = (sandbox as Extract<typeof sandbox, { kind: 'available' }>).tools;
    const script = 'trap "" TERM; echo up >/run/out/started; sleep 1000; :';
    const { files, command } = keptSandbox(
      tools,
      { path: folder, spec } as InstanceFolder,
      {
        root: emptyRoot(),
        hostname: 'cart-1',
        user: { uid: 1000, gid: 1000 },
        workingDir: '/',
        env: { PATH: '/usr/bin' },
        readable: USR,
        writable: { '/run/out': folder },
        command: ['setpriv', '--pdeathsig', 'clear', 'sh', '-c', script],
      },
      { kind: 'none' },
    );
    for (const { path, content } of files) writeFileSync(path, content);
    const [file = '', ...args] = podCommand({ ...tools, pasta: undefined }, command);
    const keeper = spawn(file, args, { stdio: 'inherit', detached: true });
    await expect.poll(() => existsSync(started), { timeout: 10_000 }).toBe(true);
    const program = onlyGrandchildOf(keeper.pid!)!;
    process.kill(keeper.pid!, 'SIGKILL');
    await expect.poll(() => existsSync(`/proc/${program}`), { timeout: 10_000 }).toBe(false);
  });

  test('has none of the files that bubblewrap was started with', async () => {
    const fds = (await inSandbox('ls /proc/self/fd')).trim().split('\n').map(Number);
    // The third one is that of the list itself.
    expect(fds.filter((fd) => fd < 10)).toEqual([0, 1, 2, 3]);
  });
});
