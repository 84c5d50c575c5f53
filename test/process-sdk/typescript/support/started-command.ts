// A folder with a program that `svc run` and `svc dev` start, and a service that they serve with it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SvcProcess } from '../../../support/host-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const PROGRAM = join(import.meta.dirname, 'cart-program.ts');
const SDK = join(import.meta.dirname, '../../../../process-sdk/typescript/index.ts');

/**
 * A folder with a program that serves the cart in the version of the file `version`, and has written its process id to the file `pid`. Where
 * the version is `broken`, it ends at once; where it is `empty`, it has no components.
 */
export function programFolder(): {
  readonly folder: string;
  readonly file: (name: string) => string;
} {
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);
  writeFileSync(file('version.txt'), '1');
  writeFileSync(
    file('main.ts'),
    `import { readFileSync, writeFileSync } from 'node:fs';
    const version = readFileSync(${JSON.stringify(file('version.txt'))}, 'utf8');
    if (version === 'broken') throw new Error('it is broken');
    writeFileSync(${JSON.stringify(file('main.pid'))}, String(process.pid));
    process.argv[2] = version;
    if (version === 'empty') {
      const { serveProcess } = await import(${JSON.stringify(SDK)});
      await serveProcess({});
    } else await import(${JSON.stringify(PROGRAM)});
    `,
  );
  return { folder, file };
}

export function startedCommand(
  command: 'run' | 'dev',
  folder: string,
  ...more: readonly string[]
): SvcProcess {
  const line = `'${process.execPath}' "${join(folder, 'main.ts')}"`;
  const own = ['--name', 'carts', '--port', '0', '--data', temporaryFolder()];
  const env = command === 'dev' ? { SVC_DEPLOYED: 'true' } : {};
  const svc = new SvcProcess([command, ...more, '--process-command', line, ...own], { env });
  onTestFinished(() => void svc.child.kill('SIGKILL'));
  return svc;
}

export const added = async (url: string, sku: string) => {
  const body = JSON.stringify({ sku, quantity: 1 });
  const headers = { 'content-type': 'application/json' };
  try {
    return (await fetch(`${url}/carts/c1/items`, { method: 'POST', headers, body })).status;
  } catch {
    // The service begins again.
    return 0;
  }
};
export const skus = async (url: string) => {
  const cart = (await (await fetch(`${url}/carts/c1`)).json()) as {
    readonly items: readonly { readonly sku: string }[];
  };
  return cart.items.map(({ sku }) => sku);
};
