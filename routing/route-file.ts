// RouteFile: the table of routes on disk, with which a router starts while no orchestrator runs.
//
// Invariants
// - The file is a whole table or absent, also after a crash while it is written.
// - A file that was changed or cut off is refused by its digest.
// - What a writer that was killed has left beside the file is replaced by the next one.
import { createHash } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseRouteTable, type RouteTable } from './route-table.ts';
import { ROUTING_LIMITS } from './routing-limits.ts';

const FORMAT = 1;

/** Replaces the file, which has one writer at a time. Rejects with the error of the system. */
export async function writeRouteFile(file: string, table: RouteTable): Promise<void> {
  const text = JSON.stringify(table);
  const temporary = `${file}.new`;
  try {
    await writeDurably(
      temporary,
      JSON.stringify({ format: FORMAT, digest: digestOf(text), table: text }),
    );
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

/** Returns the table, or why there is none: `missing`, or what is wrong with the file. */
export async function readRouteFile(
  file: string,
): Promise<RouteTable | { readonly problem: string }> {
  try {
    const { size } = await stat(file);
    if (size > ROUTING_LIMITS.tableBytesMax) return { problem: 'it is too large' };
    return tableOf(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: 'it is no JSON' };
    const { code } = error as NodeJS.ErrnoException;
    return { problem: code === 'ENOENT' ? 'missing' : `it cannot be read (${code})` };
  }
}

function tableOf(value: unknown): RouteTable | { readonly problem: string } {
  const { format, digest, table } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (format !== FORMAT || typeof table !== 'string')
    return { problem: 'it is no file of routes of this version' };
  if (digest !== digestOf(table)) return { problem: 'its digest is another one' };
  return parseRouteTable(JSON.parse(table));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
