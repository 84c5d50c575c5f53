// Builds the console's page: one script, one stylesheet and the icon, whose names contain a hash of their content,
// and index.html, which refers to them. The same sources give the same files.
import { join } from 'node:path';
import { build } from 'vite';

const console = join(import.meta.dirname, '..', 'console');

/** Folder where the console's server looks for the page; ignored by git. */
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
    // The page is always built for production, whatever NODE_ENV says, so it has no paths of sources.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    build: {
      outDir: target,
      emptyOutDir: true,
      target: 'es2023',
      sourcemap: false,
      // The page's own security policy refuses data: addresses.
      assetsInlineLimit: 0,
      modulePreload: false,
      reportCompressedSize: false,
    },
  });
}
