// `svc proxy` that starts the process itself: its output, its end, and the stop of both. The process is a shell; what listens on its port
// is the test, unless a test says otherwise.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { BoundSocket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { observeState } from '../../kit/state-file.ts';
import { proxyAnswer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { runSvc } from '../support/host-process.ts';
import { listeningAddresses } from '../support/listening-ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { begin, get, OK } from '../support/web-pods/passed-request.ts';
import { type PodOptions, WebPod } from '../support/web-pods/web-pod.ts';

const PATH = { PATH: '/usr/bin:/bin' };
const RUNS = 'while :; do sleep 0.05; done';

let authority: CertificateAuthority;

beforeAll(async () => {
  authority = await CertificateAuthority.create('ca');
});

interface ProcessPod {
  readonly pod: WebPod;
  readonly stateFile: string;
}

/** Starts a proxy that runs the script in a shell. */
async function startPod(
  script: string,
  { settings, ...options }: Partial<PodOptions> = {},
): Promise<ProcessPod> {
  const folder = temporaryFolder();
  const stateFile = join(folder, 'state.json');
  const pod = await WebPod.start({
    authority,
    folder,
    settings: {
      'svc.state-file': stateFile,
      'svc.proxy.process-file': processFile(folder, ['/bin/sh', '-c', script]),
      ...settings,
    },
    ...options,
  });
  onTestFinished(() => pod.end());
  return { pod, stateFile };
}

function processFile(folder: string, command: readonly string[]): string {
  const file = join(folder, 'process.json');
  writeFileSync(file, JSON.stringify({ command, env: PATH }));
  return file;
}

describe('the process', () => {
  test('writes lines into the log of the proxy, and the state file says that the proxy is ready', async () => {
    const { pod, stateFile } = await startPod(`echo 'a "b"'; echo c >&2; ${RUNS}`);
    await pod.svc.logged(/"from":"process","stream":"stdout","message":"a \\"b\\""/);
    await pod.svc.logged(/"from":"process","stream":"stderr","message":"c"/);
    await vi.waitFor(() =>
      expect(observeState(stateFile)).toMatchObject({
        kind: 'running',
        state: { phase: 'ready', pid: pod.svc.child.pid },
      }),
    );
  });

  test('cannot fill the log', async () => {
    const { pod } = await startPod('yes', {
      settings: { 'svc.log.lines-per-second': '10', 'svc.log.burst-seconds': '1' },
    });
    await pod.svc.logged(/\d+ lines were not written/);
    const { stderr } = await pod.svc.end('SIGTERM');
    expect(stderr.match(/"from":"process"/g)!.length).toBeLessThan(1000);
    expect(stderr).toMatch(/The proxy stops/);
  });

  test('has none of the sockets of the proxy', async () => {
    const socket = new BoundSocket({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => socket.close());
    const { pod } = await startPod(`echo pid $$; ${RUNS}`, {
      sockets: [{ name: 'service', fd: socket.fd() }],
    });
    await pod.svc.logged(/"message":"pid \d+"/);
    expect(listeningAddresses(pod.svc.child.pid!)).toHaveLength(3);
    expect(listeningAddresses(Number(/"message":"pid (\d+)"/.exec(pod.svc.stderr)![1]))).toEqual(
      [],
    );
  });
});

describe('a process that ends by itself', () => {
  test('ends the proxy with a failure that says how', async () => {
    const { pod, stateFile } = await startPod('echo up; sleep 0.3; echo "no database" >&2; exit 3');
    const { code, stderr } = await pod.svc.ended;
    const message =
      'The process has ended with exit code 3. Look at its log, whose last line is: no database';
    expect(code).toBe(1);
    expect(stderr).toContain(`"code":"SVC_PROCESS_ENDED","message":"${message}"`);
    expect(observeState(stateFile)).toMatchObject({
      kind: 'ended',
      exit: { code: 1, signal: null, error: 'SVC_PROCESS_ENDED', message },
    });
  });

  test('also with exit code 0, and a request that it has broken off is answered', async () => {
    const folder = temporaryFolder();
    const { pod } = await startPod(`until [ -e ${folder}/end ]; do sleep 0.02; done`);
    const [client, process] = await begin(
      pod,
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
    );
    writeFileSync(join(folder, 'end'), '');
    process.socket.destroy();
    expect(await proxyAnswer(client)).toMatch(/^502 The process closed the connection/);
    const { code, stderr } = await pod.svc.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/has ended with exit code 0\. It has written nothing\./);
  });
});

describe('SIGTERM to the proxy', () => {
  test('is sent to the process at the same time, and both finish what is in flight', async () => {
    const end = join(temporaryFolder(), 'end');
    const { pod, stateFile } = await startPod(
      `trap 'echo asked' TERM; until [ -e ${end} ]; do sleep 0.02; done; exit 5`,
    );
    const [client, process] = await begin(pod, get('/'));
    const ended = pod.svc.end('SIGTERM');
    await pod.svc.logged(/"message":"asked"/);
    await vi.waitFor(() =>
      expect(observeState(stateFile)).toMatchObject({ state: { phase: 'stopping' } }),
    );
    process.write(OK);
    expect((await client.message()).body).toBe('ok');
    // The process is still at work.
    expect(pod.svc.child.exitCode).toBe(null);
    writeFileSync(end, '');
    expect((await ended).code).toBe(0);
    expect(observeState(stateFile)).toMatchObject({
      kind: 'ended',
      exit: { code: 0, signal: null },
    });
  });

  test('kills a process that stays, after the time for the stop', async () => {
    const { pod } = await startPod(`trap 'echo asked' TERM; echo pid $$; ${RUNS}`, {
      settings: { 'svc.proxy.stop-timeout-ms': '200' },
    });
    await pod.svc.logged(/"message":"pid \d+"/);
    const pid = /"message":"pid (\d+)"/.exec(pod.svc.stderr)![1];
    const { code, stderr } = await pod.svc.end('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).toMatch(/The process did not end in time and was killed/);
    expect(readdirSync('/proc')).not.toContain(pid);
  });
});

describe('what cannot be started', () => {
  test('ends the proxy at once, and both log files and state file say why', async () => {
    const folder = temporaryFolder();
    const logs = join(folder, 'logs');
    const started = startPod('exit', {
      settings: {
        'svc.proxy.process-file': processFile(folder, ['/none']),
        'svc.state-file': join(folder, 'state.json'),
        'svc.log.files.dir': logs,
      },
    });
    await expect(started).rejects.toThrow(/it ended without logging/);
    const log = readFileSync(join(logs, 'service.log'), 'utf8');
    expect(log).toMatch(/service port listening[^]*"code":"SVC_COMMAND_NOT_STARTED"/);
    expect(observeState(join(folder, 'state.json'))).toMatchObject({
      kind: 'ended',
      exit: { code: 1, error: 'SVC_COMMAND_NOT_STARTED' },
    });
  });

  test('is in the state file also when the settings are invalid', async () => {
    const stateFile = join(temporaryFolder(), 'state.json');
    const { code, stderr } = await runSvc(['proxy', '--set', `svc.state-file=${stateFile}`]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/SVC_SETTING_INVALID/);
    expect(observeState(stateFile)).toMatchObject({
      kind: 'ended',
      exit: { code: 1, error: 'SVC_SETTING_INVALID' },
    });
  });
});
