// The network of a pod: nobody else is on its loopback, and it reaches nothing of this machine.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { noSandbox, sandbox } from './support.ts';

const SCRIPT = fileURLToPath(
  new URL('../../../../control-plane/local/sandbox/pod-network.sh', import.meta.url),
);
const BUBBLEWRAP = sandbox.kind === 'available' ? sandbox.tools.bwrap : '';
const OWN_NETWORK = ['--user', '--map-root-user'];

/** Runs a shell script in a pod, and resolves with what it prints. */
async function inPod(outbound: string, script: string): Promise<string> {
  const args = [...OWN_NETWORK, 'sh', SCRIPT, outbound, BUBBLEWRAP, 'sh', '-c', script];
  const { stdout } = await promisify(execFile)('unshare', args, { timeout: 20_000 });
  return stdout;
}

const CONNECT = (host: string, port: number) =>
  `${process.execPath} -e 'require("net").connect(${port}, "${host}").on("connect", () => { console.log("connected"); process.exit() }).on("error", (error) => console.log(error.code)).setTimeout(2000, () => { console.log("silence"); process.exit() })'`;

async function listening(server: Server, host: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen({ host, port: 0 }, resolve));
  return (server.address() as AddressInfo).port;
}

async function whenGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe.skipIf(noSandbox !== undefined)('the network of a pod', () => {
  test.each(['none', 'pasta'])(
    'does not reach the loopback of this machine (%s)',
    async (outbound) => {
      using server = disposable(createServer((socket) => socket.end()));
      const port = await listening(server.value, '127.0.0.1');
      expect(await inPod(outbound, CONNECT('127.0.0.1', port))).toBe('ECONNREFUSED\n');
      const other = await listening(createServer().unref(), '127.83.77.1');
      expect(await inPod(outbound, CONNECT('127.83.77.1', other))).toBe('ECONNREFUSED\n');
    },
  );

  test('has a loopback on which nobody from outside connects', async () => {
    const inside = startInPod('none', [
      process.execPath,
      '-e',
      'require("net").createServer().listen(0, "0.0.0.0", function () { console.log(this.address().port) })',
    ]);
    const port = Number(await firstLine(inside));
    const socket = connect({ host: '127.0.0.1', port });
    const error = await new Promise((resolve) =>
      socket.on('error', resolve).on('connect', resolve),
    );
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    inside.kill('SIGKILL');
  });

  test('has no other network without pasta', async () => {
    expect(await inPod('none', 'ip -o link | wc -l; ip route show table main')).toBe('1\n');
  });

  test('cuts link-local addresses off, at which clouds give away credentials', async () => {
    const routes = await inPod('pasta', 'ip route get 169.254.169.254 2>&1 || true');
    expect(routes).toMatch(/Network is unreachable|Invalid argument|RTNETLINK/);
  });

  test('cannot replace the file of bubblewrap', async () => {
    expect(
      await inPod('none', `(: >>${BUBBLEWRAP}) 2>/dev/null && echo opened || echo refused`),
    ).toBe('refused\n');
  });

  test('runs the program as the process that was started, and pasta ends with it', async () => {
    const inside = startInPod('pasta', ['sh', '-c', 'echo $$; exec sleep 1000']);
    expect(Number(await firstLine(inside))).toBe(inside.pid);
    const forwarders = childrenOf(inside.pid!);
    inside.kill('SIGKILL');
    // A build of pasta for the processor has a name of its own.
    expect(forwarders.map(({ command }) => command.slice(0, 2))).toEqual(['pa']);
    await whenGone(forwarders[0]!.pid);
  });

  test('passes connections to other machines on, and none to this one', async () => {
    // A machine in a namespace: its own address, another one's, and a default route.
    const machine = `
      ip link set lo up; ip link add uplink type veth peer name far; ip link set uplink up; ip link set far up
      ip addr add 192.0.2.2/24 dev uplink; ip route add default via 192.0.2.1
      ip addr add 198.51.100.7/32 dev lo; ip addr add 172.17.0.1/16 dev far
      serve() { ${process.execPath} -e 'require("net").createServer((s) => s.end()).listen(+process.argv[2], process.argv[1], () => console.log("up"))' "$1" "$2" | { read -r _; echo up; cat >/dev/null; } & }
      { serve 198.51.100.7 4000; serve 192.0.2.2 4001; serve 127.0.0.1 4002; serve 172.17.0.1 4003; } >"$1/up" 2>&1
      while [ "$(wc -l <"$1/up")" -lt 4 ]; do sleep 0.02; done
      sh "$0" pasta ${BUBBLEWRAP} sh -c '${[
        CONNECT('198.51.100.7', 4000),
        CONNECT('192.0.2.2', 4001),
        CONNECT('127.0.0.1', 4002),
        CONNECT('172.17.0.1', 4003),
      ]
        .join('; ')
        .replaceAll("'", String.raw`'\''`)}'
      kill $(jobs -p) 2>/dev/null; pkill -P $$ 2>/dev/null; true`;
    const { stdout } = await promisify(execFile)(
      'unshare',
      [
        ...OWN_NETWORK,
        '--net',
        '--mount-proc',
        '--pid',
        '--fork',
        '--kill-child',
        'sh',
        '-c',
        machine,
        SCRIPT,
        temporaryFolder(),
      ],
      { timeout: 20_000 },
    );
    expect(stdout.split('\n').filter((line) => line !== 'up')).toEqual([
      'connected',
      'ECONNREFUSED',
      'ECONNREFUSED',
      'EINVAL',
      '',
    ]);
  });

  test('starts the program without pasta on a machine that is connected to nothing', async () => {
    const { stdout, stderr } = await promisify(execFile)(
      'unshare',
      [...OWN_NETWORK, '--net', 'sh', SCRIPT, 'pasta', BUBBLEWRAP, 'echo', 'started'],
      { timeout: 20_000 },
    );
    expect(stdout).toBe('started\n');
    expect(stderr).toContain('svc: this service cannot reach other machines');
  });
});

function startInPod(outbound: string, command: readonly string[]): ChildProcess {
  return spawn('unshare', [...OWN_NETWORK, 'sh', SCRIPT, outbound, BUBBLEWRAP, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of child.stdout!) {
    output += String(chunk);
    if (output.includes('\n')) return output.trim();
  }
  return output + (await text(child.stdout!));
}

function childrenOf(pid: number): readonly { readonly pid: number; readonly command: string }[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child.trim() !== '')
    .map((child) => ({
      pid: Number(child),
      command: readFileSync(`/proc/${child}/comm`, 'utf8').trim(),
    }));
}

function disposable(server: Server) {
  return { value: server, [Symbol.dispose]: () => void server.close() };
}
