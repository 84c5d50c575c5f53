// FileViews is the store of views in a data folder: a file for each definition.
import { lstatSync, readdirSync, statfsSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '@svc/kit/svc-error';
import type {
  FormerRows,
  KeptView,
  StoredView,
  ViewReader,
  ViewStore,
  ViewWriter,
} from '../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { FileViewReader } from './file-view-reader.ts';
import { FileViewWriter } from './file-view-writer.ts';
import { viewFailure } from './view-failure.ts';
import {
  definitionOf,
  openForReading,
  removeViewFile,
  viewPath,
  viewsFolder,
} from './view-file.ts';
import { ViewLock } from './view-lock.ts';
import { ViewMeta } from './view-meta.ts';

export class FileViews implements ViewStore {
  readonly #folder: string;
  readonly #limits: ViewLimits;

  /** `dir`: the data folder. Nothing is made in it before the first writer is opened. */
  constructor(dir: string, limits: ViewLimits) {
    this.#folder = viewsFolder(dir);
    this.#limits = limits;
  }

  reader(view: StoredView): ViewReader {
    return new FileViewReader(this.#folder, view, this.#limits);
  }

  former(view: StoredView): readonly FormerRows[] {
    return this.#guarded('listed', () => this.#definitions())
      .filter((definition) => definition !== view.definition)
      .flatMap((definition) => this.#formerRows(definition, view) ?? []);
  }

  openWriter(view: StoredView): ViewWriter {
    return new FileViewWriter(this.#folder, view, this.#limits);
  }

  freeBytes(): number {
    return this.#guarded('measured', () => {
      const { bavail, bsize } = statfsSync(this.#folder);
      return bavail * bsize;
    });
  }

  list(): readonly KeptView[] {
    return this.#guarded('listed', () =>
      this.#definitions().flatMap((definition) => {
        const found = lstatSync(viewPath(this.#folder, definition), { throwIfNoEntry: false });
        return found === undefined
          ? []
          : [{ definition, bytes: found.size, usedMs: found.mtimeMs }];
      }),
    );
  }

  removeUnused(inUse: ReadonlySet<string>, nowMs: number): readonly string[] {
    return this.list()
      .filter(({ definition, usedMs }) => {
        if (inUse.has(definition)) this.#touch(definition, nowMs);
        return !inUse.has(definition) && usedMs + this.#limits.keptMs <= nowMs;
      })
      .filter(({ definition }) => this.#remove(definition))
      .map(({ definition }) => definition);
  }

  close(): void {
    // Readers and writers have files of their own.
  }

  #formerRows(definition: string, { id, rowType }: StoredView): FormerRows | undefined {
    try {
      const database = openForReading(viewPath(this.#folder, definition), definition);
      try {
        const meta = new ViewMeta(database);
        const origin = meta.origin();
        const state = meta.state();
        if (origin?.id !== id || origin.rowType !== rowType) return undefined;
        if (state?.isLive !== true || state.foldedTo === undefined) return undefined;
        return { definition, foldedTo: state.foldedTo };
      } finally {
        database.close();
      }
    } catch {
      // A file that cannot be used has no rows.
      return undefined;
    }
  }

  #touch(definition: string, nowMs: number): void {
    this.#guarded('marked as used', () =>
      utimesSync(viewPath(this.#folder, definition), nowMs / 1000, nowMs / 1000),
    );
  }

  /** Returns false if the definition has a writer. */
  #remove(definition: string): boolean {
    const path = viewPath(this.#folder, definition);
    let lock: ViewLock;
    try {
      lock = ViewLock.take(path, definition);
    } catch (error) {
      if (error instanceof SvcError && error.code === 'SVC_VIEW_IN_USE') return false;
      throw error;
    }
    try {
      this.#guarded('deleted', () => removeViewFile(path));
    } finally {
      lock.remove();
    }
    return true;
  }

  #definitions(): readonly string[] {
    try {
      return readdirSync(this.#folder).flatMap((name) => definitionOf(name) ?? []);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw error;
    }
  }

  #guarded<T>(doing: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw viewFailure(error, doing, join(this.#folder));
    }
  }
}
