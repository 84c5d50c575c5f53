// The SDK for TypeScript, as it is packed, serves a service on the oldest Node that it supports.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cartSource, installSdk } from '../../support/hosted-process/typescript-cart.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { hostingSuite } from '../../suites/hosting-suite.ts';
import { servedProgram, type StartedProgram } from '../support/served-program.ts';
import { connectionTo, guestAt } from './support/served-guest.ts';

interface OlderNode {
  readonly path: string;
  readonly version: string;
}

/** Returns a Node from 20 on and before 24, which runs no TypeScript by itself; undefined if there is none. */
function olderNode(): OlderNode | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  for (const path of folders.map((folder) => join(folder, 'node'))) {
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    const version = stdout?.trim() ?? '';
    const major = Number(/^v(\d+)\./.exec(version)?.[1]);
    if (major >= 20 && major < 24) return { path, version };
  }
  return undefined;
}

const older = olderNode();
if (older === undefined)
  console.log(
    'no Node from 20 to 23 on the path or in /usr/bin: the packed SDK is not tested with one',
  );

const PROGRAM = `import { serveProcess } from '@svc/process';
import { cart, cartEndpoint } from './cart.js';

console.log('it runs in Node ' + process.version);
const { address } = await serveProcess({ entities: [cart], endpoints: [cartEndpoint], version: '1' });
console.log('listening at ' + address);
`;

const folder = temporaryFolderOfFile();

describe.skipIf(older === undefined)('the packed SDK in an older Node', () => {
  let program: StartedProgram;
  beforeAll(async () => {
    const app = join(folder, 'app');
    mkdirSync(app);
    installSdk(app);
    writeFileSync(join(app, 'package.json'), '{"type": "module"}');
    writeFileSync(join(app, 'cart.js'), stripTypeScriptTypes(cartSource()));
    writeFileSync(join(app, 'main.js'), PROGRAM);
    program = await servedProgram(older!.path, join(app, 'main.js'));
  });
  afterAll(async () => program?.end());

  test('is what runs', () => {
    expect(program.output()).toContain(`it runs in Node ${older!.version}`);
  });

  hostingSuite('process', async () => guestAt(connectionTo(program.address)));
});
