// FullListener: a process that listens, accepts no connection, and whose backlog is full: the kernel takes no further SYN for it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

const BACKLOG = 1;
const LOOK_MS = 5;
/** State of a process that SIGSTOP has stopped, in Linux's /proc. */
const STOPPED = /^State:\s+T/m;
const PROGRAM = `const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: ${BACKLOG} }, () => console.log(server.address().port));`;

/** Returns the port; the process ends with the test. */
export async function openFullListener(): Promise<number> {
  const child = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  child.kill('SIGSTOP');
  while (!STOPPED.test(readFileSync(`/proc/${child.pid}/status`, 'utf8'))) await sleep(LOOK_MS);
  // Linux queues one more than the backlog.
  for (let queued = 0; queued <= BACKLOG; queued += 1) {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
  }
  return port;
}
