// Runs one of the project's TypeScript files on the Node that the project installs as a package.
//
// Usage: node scripts/with-node.mjs FILE.ts [ARGUMENT ...]
//
// The file is plain JavaScript for any Node from version 20 on, because it runs before the installation. It installs
// if the Node is missing, or if package-lock.json or a decisive field of a package.json has changed since the last
// installation.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR = 26;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binaries = join(root, 'node_modules', '.bin');
const node = join(
  root,
  'node_modules',
  'node',
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
);
const stamp = join(root, 'node_modules', '.svc-install');

/** Fields of a package.json that determine what is installed; a new script or export does not. */
const DECISIVE = [
  'name',
  'version',
  'workspaces',
  'bin',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'overrides',
  'allowScripts',
];

/**
 * Returns a hash of package-lock.json and of the decisive fields of the package.json files. Workspaces that a pattern
 * with `*` selects are left out.
 */
function fingerprint() {
  const hash = createHash('sha256');
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const folder of ['.', ...workspaces.filter((name) => !name.includes('*'))]) {
    const file = join(root, folder, 'package.json');
    if (!existsSync(file)) continue;
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    hash.update(JSON.stringify(DECISIVE.map((key) => manifest[key])));
  }
  hash.update(readFileSync(join(root, 'package-lock.json')));
  return hash.digest('hex');
}

function install() {
  process.stderr.write('svc: installing packages (npm ci); this happens once\n');
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm ? [process.execPath, npm] : ['npm'];
  const result = spawnSync(command, [...first, 'ci', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: !npm && process.platform === 'win32',
  });
  if (result.status !== 0) {
    process.stderr.write('svc: npm ci failed; what it printed above says why\n');
    process.exit(result.status ?? 1);
  }
}

/** Ends the process with a message if the installation has succeeded, but Node is missing or of another version. */
function checkNode() {
  const answer = existsSync(node)
    ? spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim()
    : undefined;
  if (answer?.startsWith(`v${NODE_MAJOR}.`)) return;
  process.stderr.write(
    `svc: Node ${NODE_MAJOR} did not arrive with the package "node". Its install script fetches it ` +
      `from the registry, and install scripts seem to be switched off.\n` +
      `     Allow them for this package: npm rebuild node --ignore-scripts=false\n`,
  );
  process.exit(1);
}

const wanted = fingerprint();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted || !existsSync(node)) {
  install();
  checkNode();
  writeFileSync(stamp, wanted);
}

const [file, ...rest] = process.argv.slice(2);
// The listeners are registered before there is a child: a signal between the two steps would leave the child without
// a parent. A terminal sends SIGINT to the whole process group, so the child receives it as well; the other signals
// are passed on.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
const child = spawn(node, [join(root, file), ...rest], {
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: binaries + delimiter + (process.env.PATH ?? ''),
    // Node caches the compiled sources: with the cache, processes and threads start in half the time.
    NODE_COMPILE_CACHE:
      process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'svc'),
  },
});
// npm also sends SIGTERM to the shell between npm and this process, which ends without passing the signal on.
if (process.env.npm_lifecycle_event !== undefined) {
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, 200);
}
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
