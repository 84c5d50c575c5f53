#!/usr/bin/env node
// Starts the command line on Node 26, which is the npm package `node`. The file is plain JavaScript, so that any Node
// from version 20 on can run it; if the running Node is new enough, the command runs in this process.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR = 26;
// A signal without a listener does not end process 1, which is what a container starts.
if (process.pid === 1)
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
// package.json decides: TypeScript in the checkout, JavaScript in the published package.
const main = fileURLToPath(import.meta.resolve('@svc/cli/main'));

/** Returns the folder of the npm package `node`; undefined if it is not installed. */
function nodePackage() {
  try {
    return dirname(createRequire(import.meta.url).resolve('node/package.json'));
  } catch {
    return undefined;
  }
}

/** Returns the path of Node's binary in that folder; undefined if the package's install script has not run. */
function packagedNode(folder) {
  const binary = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return existsSync(binary) ? binary : undefined;
}

const folder = nodePackage();
// Node caches the compiled sources in this folder, for all processes and threads that this one starts: they start in
// half the time. If the folder is not writable, Node works without the cache.
if (folder !== undefined) process.env.NODE_COMPILE_CACHE ??= join(dirname(folder), '.cache', 'svc');

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR) {
  module.enableCompileCache();
  await import(main);
} else {
  const node = folder && packagedNode(folder);
  if (node === undefined) {
    process.stderr.write(
      `svc: this is Node ${process.versions.node}, and svc needs Node ${NODE_MAJOR}, which the npm package ` +
        `"node" brings. Its install script did not run: npm rebuild node --ignore-scripts=false\n`,
    );
    process.exit(1);
  }
  // The listeners are registered before there is a child: a signal between the two steps would leave the child
  // without a parent. A terminal sends SIGINT to the whole process group, so the child receives it as well; the other
  // signals are passed on.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // Sockets that systemd gives to this process are for the command (kit/listening-sockets.ts); a child gets none that is not named.
  const { LISTEN_PID, LISTEN_FDS } = process.env;
  const sockets =
    LISTEN_PID === String(process.pid) && /^\d{1,2}$/.test(LISTEN_FDS) ? Number(LISTEN_FDS) : 0;
  const stdio = Array.from({ length: 3 + sockets }, (_none, fd) => fd);
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio });
  // When npm is stopped it ends the shell between npm and this process, and that shell does not pass the signal on.
  if (process.env.npm_lifecycle_event !== undefined) {
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(watch);
      child.kill('SIGTERM');
    }, 200);
  }
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}
