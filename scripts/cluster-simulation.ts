// `npm run cluster:simulation [-- --seeds N] [--seed S]`: plays random histories of a cluster of three nodes and a model of its database in
// virtual time, and fails if a promise is broken.
import { playHistories } from './seeded-histories.ts';

/** Time of a batch of histories of the test, in milliseconds, on a machine that has much else to do. */
const BATCH_MS_MAX = 600_000;

playHistories({
  option: 'seeds',
  test: 'test/simulation/cluster/cluster-histories',
  part: 500,
  flags: [`--testTimeout=${BATCH_MS_MAX}`],
});
