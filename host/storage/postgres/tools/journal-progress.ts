// DatabaseProgress is how far a journal in a database is. Tools that read a folder do not load what speaks to databases, so that it is
// loaded with the first read.
import type { Position, Positions } from '../../../engine/needs/feed.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import type { JournalProgress } from '../../journal-progress.ts';

const preview = () => import('./database-preview.ts');
const reading = () => import('./progress-reading.ts');

export class DatabaseProgress implements JournalProgress {
  readonly #location: JournalInDatabase;

  constructor(location: JournalInDatabase) {
    this.#location = location;
  }

  async isHosted(): Promise<boolean> {
    return (await preview()).hasNodes(this.#location);
  }

  async positions(): Promise<Positions> {
    return (await reading()).readPositions(this.#location);
  }

  async nextTimeMs(position: Position, components: readonly string[]): Promise<number | undefined> {
    return (await reading()).readNextTimeMs(this.#location, position, components);
  }

  async lastModule(): Promise<
    { readonly fingerprint: string; readonly descriptor: string } | undefined
  > {
    const { fingerprint, descriptor } = await (await preview()).lastModuleIn(this.#location);
    return fingerprint === undefined || descriptor === undefined
      ? undefined
      : { fingerprint, descriptor };
  }

  close(): void {
    // Each read has closed its connection.
  }
}
