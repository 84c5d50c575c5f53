// SqliteEntries turns entries of any journal into those of a journal in a file of SQLite, with their checksums. The text of an export
// has these.
import type { CopiedEntry } from './journal-entries.ts';
import { laneRowOf } from './sqlite/consumer-rows.ts';
import type { RecordRow } from './sqlite/journal-schema.ts';
import { answerChecksum, recordChecksum } from './sqlite/record-checksum.ts';
import { kindNumberOf } from './sqlite/record-kind.ts';
import { lowerHalf, upperHalf } from './sqlite/seed-halves.ts';
import type { SourceEntry } from './sqlite/tools/journal-source.ts';

export type SqliteEntry = Extract<SourceEntry, { readonly row: unknown }>;

export function sqliteEntry(entry: CopiedEntry): SqliteEntry {
  switch (entry.kind) {
    case 'record': {
      const { kind, pos, component, id, record } = entry;
      const { manifest = null, json = null } = record.kind === 'event' ? record.event : {};
      const { seq, timeMs, seed, trace = null, key = null, by = null } = record;
      const rowWith = (crc: number): RecordRow => [
        pos,
        seq,
        kindNumberOf(record.kind),
        timeMs,
        manifest,
        json,
        crc,
        upperHalf(seed),
        lowerHalf(seed),
        trace,
        key,
        by,
      ];
      const crc = recordChecksum(component, id, rowWith(0));
      return { kind, pos, component, id, record, row: rowWith(crc) };
    }
    case 'answer': {
      const { kind, component, id, key, digest, timeMs, outcome } = entry;
      const crc = answerChecksum(component, id, [key, digest, timeMs, outcome]);
      return { kind, component, id, row: [key, digest, timeMs, outcome, crc] };
    }
    case 'module': {
      const { kind, fingerprint, fromPos, timeMs, descriptor } = entry;
      return { kind, row: [fingerprint, fromPos, timeMs, descriptor] };
    }
    case 'timer':
      return { kind: entry.kind, row: entry.timer };
    case 'consumer': {
      const { kind, id, start, pos } = entry;
      return { kind, row: { id, start, pos } };
    }
    case 'lane':
      return { kind: entry.kind, row: laneRowOf(entry.consumer, entry.lane) };
  }
}
