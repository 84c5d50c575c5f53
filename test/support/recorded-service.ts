// A service of real shards in this process, as `svc run` has it without its surfaces: what it recorded is asked for as
// they do.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readModule } from '../../host/service/module-source.ts';
import { MetricsSource } from '../../host/introspection/metrics-source.ts';
import type { RecordedSpan } from '../../host/shards/recorder/recorded-span.ts';
import { SECTION_DEFAULTS, type SettingsSections } from '../../host/service/section-settings.ts';
import { shardLimits } from '../../host/shards/shard-limits.ts';
import { TimerSeries } from '../../host/storage/timer-series.ts';
import { JournalSeries } from '../../host/storage/journal-series.ts';
import { openSqliteJournal, type SqliteJournal } from '../../host/storage/sqlite/sqlite-journal.ts';
import { Supervisor } from '../../host/shards/supervisor.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface RecordedServiceOptions {
  readonly shards?: number;
  readonly sections?: {
    readonly [Section in keyof SettingsSections]?: Partial<SettingsSections[Section]>;
  };
}

export class RecordedService {
  readonly url: string;
  readonly supervisor: Supervisor;
  readonly metrics: MetricsSource;
  readonly #journal: SqliteJournal;
  /** By shard, the number of the last span that was looked at. */
  readonly #seen: number[];

  static async start(
    component: Uint8Array,
    folder: string,
    { shards = 1, sections: changed = {} }: RecordedServiceOptions = {},
  ): Promise<RecordedService> {
    const file = join(folder, 'module.wasm');
    writeFileSync(file, component);
    const sections = Object.fromEntries(
      Object.entries(SECTION_DEFAULTS).map(([section, values]) => [
        section,
        { ...values, ...changed[section as keyof SettingsSections] },
      ]),
    ) as SettingsSections;
    const series = new JournalSeries();
    const journal = await openSqliteJournal(join(folder, 'data'), sections.journal, { series });
    const supervisor = new Supervisor({
      shardFile: new URL('../../host/service/shard.ts', import.meta.url),
      settings: {
        name: 'test',
        deployed: false,
        address: { host: '127.0.0.1', port: 0 },
        http: true,
        count: shards,
        sections: shardLimits(sections, shards),
      },
      source: readModule(file, sections),
      limits: sections.supervisor,
      connectJournal: async () => journal.connect(),
      log: () => {},
    });
    const metrics = new MetricsSource({
      shards: supervisor,
      journal: series,
      timers: new TimerSeries(),
      consumers: { read: () => [] },
      views: { read: () => [] },
      ringCapacity: sections.observability.ringCapacity,
    });
    const { address } = await supervisor.start();
    const url = `http://127.0.0.1:${address!.port}`;
    return new RecordedService(url, supervisor, metrics, journal);
  }

  private constructor(
    url: string,
    supervisor: Supervisor,
    metrics: MetricsSource,
    journal: SqliteJournal,
  ) {
    this.url = url;
    this.supervisor = supervisor;
    this.metrics = metrics;
    this.#journal = journal;
    this.#seen = Array.from({ length: supervisor.count }, () => 0);
  }

  /** Those that are new, of all shards, in their order of time, once there are so many. */
  async spans(atLeast: number): Promise<RecordedSpan[]> {
    for (;;) {
      const answers = await Promise.all(
        this.#seen.map(async (after, shard) =>
          this.supervisor.ask(shard, { kind: 'spans', after, limit: 100_000 }, 10_000),
        ),
      );
      const spans = answers.flatMap((answer) => answer.spans);
      if (spans.length < atLeast) continue;
      for (const { shard, number } of spans)
        this.#seen[shard] = Math.max(this.#seen[shard]!, number);
      return spans.toSorted((a, b) => a.startMs - b.startMs);
    }
  }

  async post(path: string, body?: unknown, headers: Record<string, string> = {}) {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    return fetch(this.url + path, {
      method: 'POST',
      headers: { ...type, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async close(): Promise<void> {
    await this.supervisor.stop();
    await this.#journal.close();
  }
}

/** For one test; to be called within it. */
export async function recordedService(
  component: Uint8Array,
  options: RecordedServiceOptions = {},
): Promise<RecordedService> {
  const service = await RecordedService.start(component, temporaryFolder(), options);
  onTestFinished(async () => service.close());
  return service;
}
