import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { JournalCopy } from '../../../../host/storage/sqlite/tools/journal-copy.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

const LOAD = join(import.meta.dirname, '../../../support/append-load.ts');
const entity = { component: 'Cart', id: 'one' };

/** The paths that this thread synchronises with the disk from now on, until the test ends. */
function pathsSynced(): string[] {
  const paths: string[] = [];
  const { fsyncSync } = fs;
  fs.fsyncSync = (file) => {
    paths.push(fs.readlinkSync(`/proc/self/fd/${file}`));
    fsyncSync(file);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
  return paths;
}

describe('the data folder', () => {
  test('is made when it is missing, and only for this user', async () => {
    const dir = join(temporaryFolder(), 'a', 'b');
    await withJournal(dir, async (journal) => {
      expect(await journal.read(entity, 0, 10)).toEqual([]);
    });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('that others may look into keeps the journal from them', async () => {
    const dir = temporaryFolder();
    chmodSync(dir, 0o755);
    await withJournal(dir, async (journal) => {
      expect(await append(journal, entity, recordOf(1))).toBeUndefined();
      const files = readdirSync(dir).filter((name) => name.startsWith('journal.sqlite'));
      expect(files.toSorted()).toEqual(['', '-shm', '-wal'].map((end) => `journal.sqlite${end}`));
      for (const file of [...files, 'lock'])
        expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
    });
  });

  test('is on disk with all folders that were made for it', async () => {
    const base = temporaryFolder();
    const dir = join(base, 'a', 'b');
    const synced = pathsSynced();
    await withJournal(dir, async () => {});
    expect(synced).toEqual(expect.arrayContaining([base, join(base, 'a'), dir]));
  });

  test('holds what an ended host left in it on disk before anything is read', async () => {
    const dir = temporaryFolder();
    const child = spawn(process.execPath, [LOAD, dir, '1'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.resume();
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const synced = pathsSynced();
    await withJournal(dir, async () => {
      expect(synced).toEqual([join(dir, 'journal.sqlite'), join(dir, 'journal.sqlite-wal')]);
    });
  });

  test('is refused when it is a file', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, 'precious');
    for (const dir of [file, join(file, 'below')])
      await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_DATA_UNUSABLE' });
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });

  test('is refused at once where no folder can be made', async () => {
    await expect(openSqliteJournal('/proc/svc/data')).rejects.toMatchObject({
      code: 'SVC_DATA_UNUSABLE',
    });
  });

  test('is refused when nothing can be written in it', async () => {
    const dir = temporaryFolder();
    mkdirSync(join(dir, 'lock'));
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_DATA_UNUSABLE' });
    rmSync(join(dir, 'lock'), { recursive: true });
    mkdirSync(join(dir, 'journal.sqlite'));
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_DATA_UNUSABLE' });
  });

  test('on a full disk says so, where the journal is to be made and where a copy is', async () => {
    const { renameSync } = fs;
    fs.renameSync = () => {
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    syncBuiltinESMExports();
    onTestFinished(() => {
      fs.renameSync = renameSync;
      syncBuiltinESMExports();
    });
    const full = { code: 'SVC_DISK_FULL', message: expect.stringContaining('Make room') as string };
    await expect(openSqliteJournal(temporaryFolder())).rejects.toMatchObject(full);
    expect(() => new JournalCopy(temporaryFolder())).toThrow(
      expect.objectContaining(full) as Error,
    );
  });

  test('serves one host at a time in one process', async () => {
    const dir = temporaryFolder();
    await withJournal(dir, async (journal) => {
      for (let attempt = 0; attempt < 2; attempt++)
        await expect(openSqliteJournal(dir)).rejects.toMatchObject({
          code: 'SVC_DATA_IN_USE',
          message: expect.stringContaining(`process ${process.pid}`) as string,
        });
      // The second attempt has not taken the lock from the first host.
      expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    });
    await withJournal(dir, async (journal) => {
      expect(await journal.read(entity, 0, 10)).toHaveLength(1);
    });
  });

  test('is in use by another process until that process is killed', async () => {
    const dir = temporaryFolder();
    const child = spawn(process.execPath, [LOAD, dir, '1'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.resume();
    await once(child.stdout, 'data');
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({
      code: 'SVC_DATA_IN_USE',
      message: expect.stringContaining(`process ${child.pid}`) as string,
    });
    child.kill('SIGKILL');
    await once(child, 'close');
    await withJournal(dir, async (journal) => {
      expect((await journal.read({ component: 'Load', id: 'entity-0' }, 0, 1)).length).toBe(1);
    });
  });

  test('in use with an owner file that nobody can trust is refused without it', async () => {
    const dir = temporaryFolder();
    await withJournal(dir, async () => {
      for (const owner of ['', '{"pid":"\\u001b[2J"}', '[', 'null', 'x'.repeat(5_000)]) {
        writeFileSync(join(dir, 'owner.json'), owner);
        const failure = await openSqliteJournal(dir).catch((error: unknown) => error);
        expect(failure).toMatchObject({ code: 'SVC_DATA_IN_USE' });
        expect((failure as Error).message).not.toContain('\u001b');
      }
    });
  });
});
