#!/usr/bin/env node
// Starts the command line on Node 26, which comes as the npm package `node`. Plain JavaScript, so
// that any Node from 20 on can run it; when the running Node is new enough, it stays in this process.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR = 26;
// Process 1, as a container starts it, is not ended by a signal that nothing listens for.
if (process.pid === 1)
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
// TypeScript in the checkout, JavaScript in the package: package.json knows.
const main = fileURLToPath(import.meta.resolve('@svc/cli/main'));

/** Folder of the npm package `node`, or undefined when it was never installed. */
function nodePackage() {
  try {
    return dirname(createRequire(import.meta.url).resolve('node/package.json'));
  } catch {
    return undefined;
  }
}

/** The Node that the project depends on, or undefined when its install script never ran. */
function packagedNode(folder) {
  const binary = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return existsSync(binary) ? binary : undefined;
}

const folder = nodePackage();
// What Node makes of the sources is kept there, for all processes and threads that come of this one:
// they start in half the time. Where it cannot be written, Node does without.
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
  // Listened for before there is a child: one that came in between would leave it without a parent.
  // A terminal sends SIGINT to the whole group, so the child has it already; the others are passed on.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // npm, told to stop, ends the shell between, which passes nothing on.
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
