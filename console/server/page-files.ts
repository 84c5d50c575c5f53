// PageFiles: the built page, read once and held in memory: a request names one of these files or nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** True: the name of the file changes with its content. */
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
/** Folder in which the build puts files whose names contain a hash. */
const HASHED = '/assets/';

/**
 * Returns the files by the path of the request: '/' and '/assets/index-1a2b3c.js'; undefined if the page does not
 * exist.
 */
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
