// What tests of sandboxes share: whether this machine can make one, and a root with the programs of this machine.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSandboxSupport } from '../../../../control-plane/local/sandbox/sandbox-support.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

export const sandbox = await findSandboxSupport(true);
/** Why tests with sandboxes are skipped, which is printed; undefined if they run. */
export const noSandbox = sandbox.kind === 'missing' ? sandbox.reason : undefined;
if (noSandbox !== undefined)
  process.stderr.write(`skipped: sandboxes cannot be tested: on this machine ${noSandbox}\n`);

/** A root in which /usr of this machine is to be bound. */
export function emptyRoot(): string {
  const root = temporaryFolder();
  for (const name of ['proc', 'dev', 'tmp', 'run', 'etc', 'usr']) mkdirSync(join(root, name));
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
  for (const name of ['resolv.conf', 'hosts']) writeFileSync(join(root, 'etc', name), '');
  return root;
}
