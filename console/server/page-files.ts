// PageFiles: the page as it was built, read once and held in memory: a request names one of these files or nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Its name changes with what is in it. */
  readonly isImmutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
};
/** Where what builds the page puts files whose names carry a hash. */
const HASHED = '/assets/';

/** By the path of the request: '/' and '/assets/index-1a2b3c.js'. Undefined: the page is not there. */
export function readPage(folder: string): ReadonlyMap<string, PageFile> | undefined {
  let entries;
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return undefined;
  }
  const files = new Map<string, PageFile>();
  for (const entry of entries) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    const path = `/${file.slice(folder.length + 1).replaceAll('\\', '/')}`;
    const bytes = readFileSync(file);
    files.set(path, { type, bytes, isImmutable: path.startsWith(HASHED) });
  }
  const index = files.get('/index.html');
  return index === undefined ? undefined : files.set('/', index);
}
