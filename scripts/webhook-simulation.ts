// `npm run webhooks:simulation [-- --histories N] [--seed S]`: plays random histories of reports, answers and power failures, and fails if a promise of
// deliveries is broken.
import { playHistories } from './seeded-histories.ts';

/** Flags of V8 with which a short-lived process needs less processor time. */
const FLAGS = ['--max-semi-space-size=64', '--always-sparkplug'];

playHistories({
  option: 'histories',
  test: 'test/webhooks/deliveries/simulation',
  part: 1_000,
  flags: FLAGS.map((flag) => `--execArgv=${flag}`),
});
