// A shard's thread that does what a test tells it to: its source is the text of a program
// over `tell` (says a word of shard-messages.ts), `told` (waits for one) and `settings`. It answers when
// it is asked whether it is alive, unless the program keeps its thread busy or sets `settings.isDumb`.
import { parentPort, workerData } from 'node:worker_threads';
import type { FromShard, ShardSettings, ToShard } from '../../host/shards/shard-messages.ts';

const settings = { ...(workerData as ShardSettings), isDumb: false };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const tell = (message: FromShard) => parentPort!.postMessage(message);
const told = async (kind: ToShard['kind']) =>
  new Promise((resolve) => {
    parentPort!.on('message', (message: ToShard) => {
      if (message.kind === kind) resolve(message);
    });
  });

// A thread that listens to nobody ends by itself.
parentPort!.on('message', ({ kind }: ToShard) => {
  if (kind === 'are-you-alive' && !settings.isDumb) tell({ kind: 'alive' });
});

type Program = (...words: readonly unknown[]) => Promise<void>;
const { source: text } = (await told('run')) as { readonly source: unknown };
const source = `export const program = async (tell, told, settings) => {${String(text)}\n};`;
// As a file would be read: threads may not make code of strings.
const { program } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
  readonly program: Program;
};
await program(tell, told, settings);
