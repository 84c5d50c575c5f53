// CrashFolder: crash images, one after the other, as a folder that the storage opens and the model judges.
import { mkdtempSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { openDataFolder } from '../../../host/storage/sqlite/data-folder.ts';
import { journalPath, openForWriting } from '../../../host/storage/sqlite/journal-file.ts';
import { JournalReader } from '../../../host/storage/sqlite/journal-reader.ts';
import { openTimerReader } from '../../../host/storage/sqlite/timer-reader.ts';
import type { CrashImage } from './crash-images.ts';
import type { JournalModel } from './journal-model.ts';

/** In memory, where that is: nothing of it is to outlive the test. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export class CrashFolder {
  readonly dir = mkdtempSync(join(PLACE, 'svc-crash-'));

  put({ files }: Pick<CrashImage, 'files'>): void {
    for (const name of readdirSync(this.dir)) unlinkSync(join(this.dir, name));
    for (const [name, bytes] of files) writeFileSync(join(this.dir, name), bytes);
  }

  /** Opens it as a host does, and throws when it does not keep to the model. */
  check(model: JournalModel): void {
    const folder = openDataFolder(this.dir);
    try {
      const path = journalPath(this.dir);
      openForWriting(path).close();
      const reader = new JournalReader(path);
      const timers = openTimerReader(path);
      try {
        model.check(path, {
          read: (entity) => reader.read(entity, 0, Number.MAX_SAFE_INTEGER),
          answer: (entity, key) => reader.answer(entity, key),
          timers: (owner) => {
            const page = timers.list({ owner }, 0, 100);
            if (page.damaged.length > 0) throw page.damaged[0]!;
            return page.timers;
          },
        });
      } finally {
        reader.close();
        timers.close();
      }
    } finally {
      folder.close();
    }
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
