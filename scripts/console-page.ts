// Builds the console's page: its sources as one script, one stylesheet and the icon, under names that carry a hash of
// what is in them, and index.html, which names them. The same sources give the same files.
import { join } from 'node:path';
import { build } from 'vite';

const console = join(import.meta.dirname, '..', 'console');

/** Where the console's server looks for it; ignored by git. */
export const CONSOLE_PAGE = join(console, 'public');

export async function buildConsolePage(target: string): Promise<void> {
  await build({
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    root: join(console, 'page'),
    mode: 'production',
    base: '/',
    publicDir: false,
    // Whatever NODE_ENV says: places of sources are no business of the page.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    build: {
      outDir: target,
      emptyOutDir: true,
      target: 'es2023',
      sourcemap: false,
      // A data: address is refused by the page's own security policy.
      assetsInlineLimit: 0,
      modulePreload: false,
      reportCompressedSize: false,
    },
  });
}
