// ConsolePage: builds the console's page in a checkout when it is stale. An installed package contains the page.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from './command.ts';
import { errorStyle } from './terminal.ts';

/** Path of the built page in a checkout. */
const BUILT = 'console/public/index.html';
const SOURCES = 'console/page';
/** Configuration of the build. A change of this file makes the page stale, like a change of the sources. */
const CONFIG = 'scripts/console-page.ts';
const BUILD_SCRIPT = 'scripts/build-console.ts';

/** Builds the page if it is stale (`isPageStale`). Throws CommandFailure if the build fails. */
export function buildStalePage(checkout: string): void {
  if (!isPageStale(checkout)) return;
  process.stderr.write(`${errorStyle('dim', "Building the console's page …")}\n`);
  const script = join(checkout, BUILD_SCRIPT);
  const built = existsSync(script)
    ? spawnSync(process.execPath, [script], { cwd: checkout, encoding: 'utf8' })
    : undefined;
  if (built?.status === 0) return;
  throw new CommandFailure(
    'SVC_CONSOLE_UNAVAILABLE',
    `The console's page is not built of its present sources, and building it failed. Run node ${BUILD_SCRIPT} ` +
      `in ${checkout}, after npm install.${built === undefined ? '' : ` It said: ${built.stderr.trim()}`}`,
  );
}

/**
 * Returns whether the page is missing, or a source was changed, added or removed or the build's configuration was
 * changed since the page was built.
 */
export function isPageStale(checkout: string): boolean {
  const builtMs = changedMs(join(checkout, BUILT));
  if (builtMs === undefined) return true;
  const sources = join(checkout, SOURCES);
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' });
  // Folders are included, because the time of a folder changes when files are added or removed.
  const inputs = [sources, join(checkout, CONFIG), ...files.map((file) => join(sources, file))];
  return inputs.some((file) => (changedMs(file) ?? 0) > builtMs);
}

function changedMs(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
