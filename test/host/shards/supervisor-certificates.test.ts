// Supervisor gives certificates to real threads that act as a shard would (test/support/acting-shard.ts).
import { expect, test } from 'vitest';
import { ADMIT, LISTEN, supervise } from '../../support/acting-service.ts';

const textsOf = (name: string) => ({ certificate: name, key: 'key', authorities: 'authorities' });
/** Logs the certificates with which the shard serves and those that it is sent; ends by itself when `end` comes. */
const SHARD = `${ADMIT}
  const note = ({ certificate }) =>
    tell({ kind: 'log', entry: { level: 'info', message: certificate + ' in shard ' + settings.index } });
  note((await serve).certificates);
  void (async () => {
    for (;;) {
      const { texts } = await told('certificates');
      note(texts);
      if (texts.certificate === 'end' && settings.index === 1) process.exit(0);
    }
  })();
  ${LISTEN} await stop; closeJournal(); tell({ kind: 'stopped' });`;

test('all shards get the certificates in use and those that follow, and one that is started again the latest', async () => {
  let inUse = textsOf('first');
  const { supervisor, log, logs } = supervise(SHARD, {
    shards: 2,
    certificates: () => inUse,
    limits: { restartPauseMs: 1 },
  });
  const renew = (name: string): void => {
    inUse = textsOf(name);
    supervisor.renewCertificates();
  };
  await supervisor.start();
  await Promise.all([logs('first in shard 0', 1), logs('first in shard 1', 1)]);
  renew('second');
  await Promise.all([logs('second in shard 0', 1), logs('second in shard 1', 1)]);
  renew('end');
  inUse = textsOf('third');
  await logs('third in shard 1', 1);
  expect(log.filter(({ message }) => message === 'third in shard 0')).toEqual([]);
});
