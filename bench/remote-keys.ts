// Measurement (ec): commands with idempotency keys on one entity, on a journal that answers after 2 ms, compared with the same commands
// without keys. A keyed command waits twice, for its lookup and for its append, so half is what can be reached with a fixed number in
// flight where waiting is all that costs.
import { CounterEngine } from './counter-engine.ts';
import { DelayedJournal } from './delayed-journal.ts';
import { compareRates, IN_FLIGHT } from './in-flight.ts';
import type { Measurement, Pace } from './report.ts';

const DELAY_MS = 2;

export async function measureRemoteKeys(pace: Pace): Promise<Measurement[]> {
  const engine = await CounterEngine.open(new DelayedJournal(DELAY_MS));
  try {
    const { rates } = await compareRates(
      () => engine.addToOneWithKey(),
      () => engine.addToOne(),
      pace,
    );
    return [
      {
        letter: 'ec',
        what: `engine on a journal that answers after ${DELAY_MS} ms, ${IN_FLIGHT} commands with idempotency keys in flight, one entity`,
        beside: 'the same without keys; the aim is 0.5',
        ...rates,
        cores: 'one thread',
      },
    ];
  } finally {
    await engine.close();
  }
}
