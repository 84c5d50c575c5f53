// ServedControlPlane: a program with a control plane for histories, which a test starts and kills. It sends its URL, lets time
// pass by messages, and says whether names are settled.
import { expectRunSettled } from './expect-run-settled.ts';
import { startForHistories } from './control-plane-for-histories.ts';

export type Message = { readonly passMs: number } | { readonly run: string };
export type Reply =
  | { readonly url: string }
  /** `problem`: why the names of the run are not settled; empty if they are. */
  | { readonly run: string; readonly problem: string };

const [dataFolder, passedMs] = process.argv.slice(2);
let aheadMs = Number(passedMs);
const now = Date.now;
Date.now = () => now() + aheadMs;

const control = await startForHistories(dataFolder!);

function send(reply: Reply): void {
  process.send!(reply);
}

process.on('message', (message: Message) => {
  if ('passMs' in message) {
    aheadMs += message.passMs;
    return;
  }
  const { run } = message;
  expectRunSettled((entity, id) => control.service.call(entity, id), run).then(
    () => send({ run, problem: '' }),
    (error: unknown) => send({ run, problem: String(error) }),
  );
});
process.on('disconnect', () => {
  process.exit();
});
send({ url: control.url });
