// Npm: the npm of this machine, for tests that install packages like a user.
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const repository = join(import.meta.dirname, '..', '..', '..');

/** Path of the program `npm`. */
export const npmProgram = realpathSync(
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'npm'))
    .find((file) => existsSync(file))!,
);

function npm(args: readonly string[], env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { status, stdout } = spawnSync('npm', args, { encoding: 'utf8', timeout: 30_000, env });
  return status === 0 ? stdout.trim() : undefined;
}

/** Settings with which this machine reaches the network. */
const NETWORK = /^(?:https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR))$/i;

/** Environment of processes with a separate home: packages come from this machine's cache where possible. */
export function npmEnvironment(): Record<string, string> {
  const asHere = ['cache', 'registry'].map((key) => [
    `npm_config_${key}`,
    npm(['config', 'get', key]),
  ]);
  return Object.fromEntries([
    ...Object.entries(process.env).filter(([name]) => NETWORK.test(name)),
    ...asHere.filter(([, value]) => value !== undefined),
    ['npm_config_prefer_offline', 'true'],
    ['npm_config_fetch_retries', '1'],
    ['npm_config_audit', 'false'],
    ['npm_config_fund', 'false'],
    ['npm_config_update_notifier', 'false'],
  ]) as Record<string, string>;
}

/** Removes variables that the checkout's own npm and Node have set for their children. */
export function userEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|VITEST|INIT_CWD$|NODE_(ENV|OPTIONS|PATH|COMPILE_CACHE)$)/.test(name),
  );
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((place) => !place.startsWith(repository));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) };
}

/** Returns why a test that installs packages cannot run; undefined if it can. */
export function whyNoRegistry(): string | undefined {
  const env = { ...npmEnvironment(), PATH: process.env['PATH'], HOME: '/nonexistent' };
  if (npm(['view', 'typebox', 'version', '--prefer-online'], env) !== undefined) return undefined;
  const reason = 'not tested: the npm registry cannot be reached';
  console.log(reason);
  return reason;
}
