// PageFiles: the files of the built page, read once and held in memory, so that no request reads any other file.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** True: the name of the file changes with its content, so browsers may cache the file for ever. */
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
/** Beginning of the paths of files whose names contain a hash of their content. */
const HASHED = '/assets/';

/**
 * Returns the files by request path, such as '/' and '/assets/index-1a2b3c.js', without those of other types than
 * TYPES has; undefined if the page is not built.
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
