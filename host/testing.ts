// The entry point for tests of programs that use the host as a library: what the option `testing` of createService takes. Its
// exports are a stable public interface.
export type { RandomSource, ServiceClock } from './engine/needs/clock.ts';
export type { TestingOptions } from './service/testing-options.ts';
export { SeededRandom } from '@svc/components/seeded-random';
export {
  type JournalWrite,
  TestJournal,
  type TestJournalOptions,
  type WriteOutcome,
} from './storage/memory/test-journal.ts';
export { VirtualClock } from './testing/virtual-clock.ts';
